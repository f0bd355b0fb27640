"""Initial-value problems: seven systems, references of 30 digits, an oracle that counts, operators."""

from dga2d.domains.ode.domain import Ode

DOMAIN = Ode()
