"""What every problem domain is made of: the contract, libraries, references, splits, plug-ins."""
