"""Reading a run back from its log: lists, states, accounts, comparisons."""
