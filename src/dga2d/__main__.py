"""``python -m dga2d``: the same program as the ``dga2d`` command."""

from dga2d.runtime.cli import main

if __name__ == "__main__":
    main()
