"""What job, flow, open and flexible shop have in common."""
