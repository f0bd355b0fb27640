"""Studies: many runs of one plan (domains × arms × seeds), carried out, resumed and reported as one."""
