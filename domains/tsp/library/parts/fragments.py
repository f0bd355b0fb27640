"""Fragments of a tour as disjoint sets."""


def root_of(parent, city):
    while parent[city] != city:
        parent[city] = parent[parent[city]]
        city = parent[city]
    return city
