"""The layers around an untrusted child: one file per kernel interface, each optional and probed."""
