"""The invented facts about the people in the tumour registry: where they live, what they learnt and do."""

import numpy as np

from manyveils.datasets.oncology import SITES, Tree, leaves

REGIONS: Tree = {
    "Inland": {
        "Hills": ["Copperhill", "Irondale", "Pitlow", "Ridgeway"],
        "Plains": ["Broadacre", "Longmeadow", "Millbrook", "Oxley"],
    },
    "Coastland": {
        "North shore": ["Coldharbour", "Fellgate", "Gullhaven", "Hartmoor"],
        "South shore": ["Eastsands", "Marram", "Saltmouth", "Sunhaven"],
    },
}
REGION_WEIGHTS = np.array([9, 6, 4, 7, 5, 6, 12, 3, 8, 3, 5, 2, 10, 3, 9, 8], dtype=np.float64)

EDUCATIONS: Tree = {
    "Basic": ["No schooling", "Primary school", "Lower secondary school"],
    "Middle": ["Upper secondary school", "Vocational training"],
    "Higher": ["Bachelor", "Master", "Doctorate"],
}
EDUCATION_GROUPS = np.array([0, 0, 0, 1, 1, 2, 2, 2])
BIRTH_YEARS = np.array([1930, 1950, 1970])
SCHOOL_AGE, STUDENT_AGE = 16, 24
EDUCATIONS_BY_BIRTH = np.array(
    [  # before each of BIRTH_YEARS, after the last, students, children
        [6, 42, 22, 10, 14, 4, 2, 1],
        [2, 26, 24, 14, 22, 7, 4, 1],
        [1, 9, 20, 21, 27, 13, 8, 2],
        [1, 4, 13, 24, 25, 19, 12, 2],
        [1, 3, 35, 46, 15, 0, 0, 0],
        [40, 45, 15, 0, 0, 0, 0, 0],
    ],
    dtype=np.float64,
)

OCCUPATIONS: Tree = {
    "Office": ["Clerk", "Accountant", "Manager"],
    "Professions": ["Teacher", "Engineer", "Physician"],
    "Service": ["Nurse", "Shop assistant", "Cook", "Cleaner"],
    "Industry": ["Builder", "Miner", "Machine operator", "Electrician"],
    "Outdoors": ["Farmer", "Fisher", "Driver"],
    "At home": ["Homemaker", "Pupil or student"],
}
PUPIL = leaves(OCCUPATIONS).index("Pupil or student")
OCCUPATIONS_BY_EDUCATION = np.array(
    [
        [4, 1, 1, 0, 0, 0, 2, 11, 9, 14, 12, 5, 13, 2, 12, 3, 8, 16, 0],
        [14, 8, 6, 3, 4, 0, 12, 9, 6, 2, 8, 2, 8, 9, 6, 1, 5, 7, 0],
        [8, 11, 16, 20, 17, 10, 6, 2, 0, 0, 1, 0, 1, 1, 2, 0, 1, 4, 0],
    ],
    dtype=np.float64,
)
WOMEN_PER_OCCUPATION = np.array([7, 5, 3, 7, 2, 4, 9, 7, 5, 9, 1, 0, 3, 1, 3, 1, 1, 10, 5]) / 10

MARITAL_STATUSES: Tree = {
    "Living together": ["Married", "Domestic partner"],
    "No longer together": ["Divorced", "Separated", "Widowed"],
    "Never married": ["Single"],
}
AGE_BANDS = np.array([18, 30, 50, 70])
MARITAL_STATUSES_BY_AGE = np.array(
    [  # women by age band, then men
        [0, 0, 0, 0, 0, 1],
        [22, 18, 1, 1, 0, 58],
        [55, 12, 11, 4, 1, 17],
        [60, 4, 16, 3, 8, 9],
        [38, 1, 9, 1, 45, 6],
        [0, 0, 0, 0, 0, 1],
        [14, 16, 1, 1, 0, 68],
        [55, 13, 8, 3, 0, 21],
        [68, 5, 12, 3, 3, 9],
        [69, 2, 7, 1, 16, 5],
    ],
    dtype=np.float64,
)

# What people are exposed to: nothing in particular, smoke and dust, the sun.
SMOKE, SUN = 1, 2
EXPOSURES = {
    "Lung": SMOKE,
    "Larynx": SMOKE,
    "Pleura": SMOKE,
    "Bladder": SMOKE,
    "Oesophagus": SMOKE,
    "Skin": SUN,
}
EXPOSURE_OF_SITE = np.array([EXPOSURES.get(site, 0) for site in SITES])
MORE_BY_REGION = np.array([[1] * 16, [3, 3, 4, 3] + [1] * 12, [1] * 12 + [3] * 4], dtype=np.float64)
MORE_BY_OCCUPATION = np.array(
    [[1] * 19, [1] * 8 + [2, 1, 2, 6, 3, 2, 1, 1, 2, 1, 1], [1] * 10 + [3, 1, 1, 1, 4, 4, 2, 1, 1]],
    dtype=np.float64,
)
