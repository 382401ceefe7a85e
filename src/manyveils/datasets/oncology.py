"""The invented facts behind the tumour registry: what there is, and what goes with what."""

from typing import Any

import numpy as np

from manyveils.datasets.draws import Weights
from manyveils.policy.hierarchies import tree_lines

Tree = dict[str, Any]


def leaves(tree: Tree) -> tuple[str, ...]:
    """The values of a tree in the order in which it lists them.

    >>> leaves({"Warm": ["red", "gold"], "Cold": ["navy"]})
    ('red', 'gold', 'navy')
    """
    return tuple(line[0] for line in tree_lines(tree))


def _calendar(first: int, last: int) -> Tree:
    """Months in quarters, in years, in decades."""
    decades: Tree = {}
    for year in range(first, last + 1):
        quarters = {
            f"{year}-Q{start // 3 + 1}": [f"{year}-{month:02}" for month in range(start + 1, start + 4)]
            for start in range(0, 12, 3)
        }
        decades.setdefault(f"{year // 10 * 10}s", {})[str(year)] = quarters
    return decades


FIRST_YEAR, LAST_YEAR, CLOSED = (
    2005,
    2014,
    2026,
)  # Whoever is alive when the registry closes is not followed further.
MONTHS = _calendar(FIRST_YEAR, LAST_YEAR)

SEXES = ("F", "M")
SEX_WEIGHTS = np.array([49.0, 51.0])

TOPOGRAPHIES: Tree = {
    "Digestive organs": ["Oesophagus", "Stomach", "Colon", "Rectum", "Liver", "Pancreas"],
    "Respiratory organs": ["Larynx", "Lung", "Pleura"],
    "Head and neck": ["Oral cavity", "Pharynx", "Salivary gland"],
    "Female genital organs": ["Cervix", "Uterus", "Ovary"],
    "Male genital organs": ["Prostate", "Testis"],
    "Urinary tract": ["Kidney", "Renal pelvis", "Bladder"],
    "Breast and skin": ["Breast", "Skin"],
    "Nervous system": ["Brain", "Meninges"],
    "Blood and lymph": ["Lymph nodes", "Bone marrow"],
    "Endocrine glands": ["Thyroid", "Adrenal gland"],
    "Bone and soft tissue": ["Bone", "Soft tissue"],
}
SITES = {  # women, men, age and its spread, size in mm, length of life beside other sites
    "Oesophagus": (12, 28, 68, 11, 42, 0.6),
    "Stomach": (28, 42, 69, 12, 45, 0.8),
    "Colon": (90, 82, 71, 12, 42, 1),
    "Rectum": (40, 58, 68, 12, 38, 1),
    "Liver": (15, 34, 67, 12, 50, 1),
    "Pancreas": (38, 38, 70, 11, 36, 0.3),
    "Larynx": (6, 22, 65, 10, 24, 1),
    "Lung": (82, 118, 69, 10, 38, 0.5),
    "Pleura": (6, 20, 70, 11, 60, 1),
    "Oral cavity": (20, 30, 63, 13, 22, 1),
    "Pharynx": (12, 34, 61, 11, 28, 1),
    "Salivary gland": (8, 8, 61, 16, 24, 1),
    "Cervix": (45, 0, 50, 15, 30, 1),
    "Uterus": (70, 0, 66, 11, 36, 1),
    "Ovary": (55, 0, 62, 14, 70, 1.2),
    "Prostate": (0, 150, 69, 9, 17, 1),
    "Testis": (0, 24, 35, 11, 36, 1),
    "Kidney": (30, 46, 64, 13, 48, 1),
    "Renal pelvis": (8, 12, 71, 10, 32, 1),
    "Bladder": (24, 62, 72, 11, 27, 1),
    "Breast": (172, 2, 61, 13, 21, 1),
    "Skin": (48, 50, 61, 16, 9, 1),
    "Brain": (22, 28, 56, 19, 42, 1),
    "Meninges": (28, 12, 60, 15, 30, 1),
    "Lymph nodes": (44, 50, 59, 19, 32, 1),
    "Bone marrow": (44, 56, 63, 20, 12, 1),
    "Thyroid": (36, 12, 50, 15, 19, 1),
    "Adrenal gland": (5, 5, 51, 18, 56, 1),
    "Bone": (6, 8, 36, 20, 62, 1),
    "Soft tissue": (16, 19, 56, 19, 66, 1),
}

HISTOLOGIES: Tree = {
    "Adenocarcinomas": [
        "Tubular adenocarcinoma",
        "Mucinous adenocarcinoma",
        "Acinar adenocarcinoma",
        "Papillary adenocarcinoma",
        "Endometrioid adenocarcinoma",
        "Serous adenocarcinoma",
        "Clear cell adenocarcinoma",
        "Hepatocellular carcinoma",
    ],
    "Ductal and lobular carcinomas": ["Ductal carcinoma", "Lobular carcinoma"],
    "Squamous and urothelial carcinomas": [
        "Keratinizing squamous carcinoma",
        "Non-keratinizing squamous carcinoma",
        "Urothelial carcinoma",
    ],
    "Neuroendocrine tumours": ["Small cell carcinoma", "Carcinoid"],
    "Melanomas": ["Spreading melanoma", "Nodular melanoma"],
    "Tumours of nervous tissue": ["Glioblastoma", "Astrocytoma", "Meningioma"],
    "Sarcomas and mesotheliomas": ["Liposarcoma", "Osteosarcoma", "Mesothelioma"],
    "Lymphomas and leukaemias": ["B-cell lymphoma", "Follicular lymphoma", "Myeloma", "Leukaemia"],
    "Germ cell tumours": ["Seminoma", "Embryonal carcinoma"],
}
YEARS_BY_FAMILY = {  # that half of the people live, in the order of HISTOLOGIES
    "Adenocarcinomas": [9, 7, 14, 15, 16, 6, 9, 3],
    "Ductal and lobular carcinomas": [19, 17],
    "Squamous and urothelial carcinomas": [7, 6, 11],
    "Neuroendocrine tumours": [3, 12],
    "Melanomas": [18, 9],
    "Tumours of nervous tissue": [2, 5, 18],
    "Sarcomas and mesotheliomas": [10, 8, 3],
    "Lymphomas and leukaemias": [8, 13, 6, 6],
    "Germ cell tumours": [26, 17],
}
HISTOLOGIES_BY_SITE = {
    "Oesophagus": {
        "Tubular adenocarcinoma": 40,
        "Keratinizing squamous carcinoma": 40,
        "Small cell carcinoma": 3,
    },
    "Stomach": {
        "Tubular adenocarcinoma": 50,
        "Mucinous adenocarcinoma": 25,
        "Carcinoid": 8,
        "B-cell lymphoma": 5,
    },
    "Colon": {"Tubular adenocarcinoma": 60, "Mucinous adenocarcinoma": 30, "Carcinoid": 8},
    "Rectum": {"Tubular adenocarcinoma": 62, "Mucinous adenocarcinoma": 24, "Carcinoid": 9},
    "Liver": {"Hepatocellular carcinoma": 80, "Tubular adenocarcinoma": 14},
    "Pancreas": {
        "Ductal carcinoma": 60,
        "Mucinous adenocarcinoma": 18,
        "Acinar adenocarcinoma": 6,
        "Carcinoid": 10,
    },
    "Larynx": {"Keratinizing squamous carcinoma": 70, "Non-keratinizing squamous carcinoma": 28},
    "Lung": {
        "Acinar adenocarcinoma": 22,
        "Papillary adenocarcinoma": 14,
        "Keratinizing squamous carcinoma": 18,
        "Non-keratinizing squamous carcinoma": 12,
        "Small cell carcinoma": 22,
        "Carcinoid": 7,
    },
    "Pleura": {"Mesothelioma": 92, "Liposarcoma": 3},
    "Oral cavity": {"Keratinizing squamous carcinoma": 68, "Non-keratinizing squamous carcinoma": 24},
    "Pharynx": {"Keratinizing squamous carcinoma": 34, "Non-keratinizing squamous carcinoma": 58},
    "Salivary gland": {"Acinar adenocarcinoma": 45, "Ductal carcinoma": 30, "Papillary adenocarcinoma": 10},
    "Cervix": {
        "Keratinizing squamous carcinoma": 28,
        "Non-keratinizing squamous carcinoma": 44,
        "Endometrioid adenocarcinoma": 12,
        "Mucinous adenocarcinoma": 10,
    },
    "Uterus": {
        "Endometrioid adenocarcinoma": 74,
        "Serous adenocarcinoma": 14,
        "Clear cell adenocarcinoma": 7,
    },
    "Ovary": {
        "Serous adenocarcinoma": 58,
        "Mucinous adenocarcinoma": 10,
        "Endometrioid adenocarcinoma": 12,
        "Clear cell adenocarcinoma": 12,
        "Embryonal carcinoma": 3,
    },
    "Prostate": {"Acinar adenocarcinoma": 84, "Ductal carcinoma": 10, "Small cell carcinoma": 2},
    "Testis": {"Seminoma": 58, "Embryonal carcinoma": 38, "B-cell lymphoma": 3},
    "Kidney": {"Clear cell adenocarcinoma": 70, "Papillary adenocarcinoma": 20, "Urothelial carcinoma": 4},
    "Renal pelvis": {"Urothelial carcinoma": 92, "Keratinizing squamous carcinoma": 5},
    "Bladder": {"Urothelial carcinoma": 90, "Keratinizing squamous carcinoma": 5, "Small cell carcinoma": 2},
    "Breast": {"Ductal carcinoma": 70, "Lobular carcinoma": 20, "Mucinous adenocarcinoma": 5},
    "Skin": {"Spreading melanoma": 58, "Nodular melanoma": 22, "Keratinizing squamous carcinoma": 15},
    "Brain": {"Glioblastoma": 56, "Astrocytoma": 34, "B-cell lymphoma": 6},
    "Meninges": {"Meningioma": 95, "Astrocytoma": 2},
    "Lymph nodes": {"B-cell lymphoma": 60, "Follicular lymphoma": 34},
    "Bone marrow": {"Myeloma": 42, "Leukaemia": 52, "B-cell lymphoma": 4},
    "Thyroid": {"Papillary adenocarcinoma": 86, "Carcinoid": 6, "Clear cell adenocarcinoma": 3},
    "Adrenal gland": {"Carcinoid": 52, "Clear cell adenocarcinoma": 40},
    "Bone": {"Osteosarcoma": 72, "Liposarcoma": 10, "Myeloma": 12},
    "Soft tissue": {"Liposarcoma": 72, "Osteosarcoma": 8, "B-cell lymphoma": 6},
}

# Quantiles of how long people live and how large tumours are, as multiples of the median.
CHANCES = np.array([0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0])
LIFETIMES = np.array([0.0, 0.13, 0.22, 0.5, 1.0, 1.8, 2.8, 4.0, 6.0])
SIZES = np.array([0.1, 0.3, 0.42, 0.65, 1.0, 1.5, 2.3, 3.2, 5.0])
LARGEST = 200


def _table(rows: dict[str, dict[str, int]], columns: tuple[str, ...]) -> Weights:
    """Weights as an array, 0 where nothing is said."""
    return np.array([[row.get(name, 0) for name in columns] for row in rows.values()], dtype=np.float64)


SITES_BY_SEX, (AGES, SPREADS, SIZES_BY_SITE, OUTLOOKS) = np.split(np.array(list(SITES.values())).T, [2])
HISTOLOGY_WEIGHTS = _table(HISTOLOGIES_BY_SITE, leaves(HISTOLOGIES))
MEDIAN_YEARS = np.concatenate(list(YEARS_BY_FAMILY.values())).astype(np.float64)
