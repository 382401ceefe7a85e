"""The invented facts behind the hospital table: what there is, and what goes with what."""

import numpy as np

FIRST_NAMES = (
    "Ada",
    "Amir",
    "Bela",
    "Carla",
    "Chen",
    "Dora",
    "Emil",
    "Fatima",
    "Georg",
    "Hana",
    "Igor",
    "Jana",
    "Kofi",
    "Lena",
    "Marek",
    "Nadia",
    "Omar",
    "Petra",
    "Rosa",
    "Stefan",
    "Tomas",
    "Ursula",
    "Victor",
    "Wanda",
    "Yusuf",
    "Zoe",
)
LAST_NAMES = (
    "Abel",
    "Bauer",
    "Costa",
    "Diaz",
    "Eklund",
    "Fischer",
    "Garcia",
    "Haddad",
    "Ivanov",
    "Jensen",
    "Kowalski",
    "Lang",
    "Mensah",
    "Novak",
    "Okafor",
    "Petrov",
    "Quinn",
    "Rossi",
    "Silva",
    "Tanaka",
    "Ueda",
    "Varga",
    "Weber",
    "Young",
    "Zhang",
)

SEXES = ("F", "M")

DISTRICTS = ("479", "473", "462", "466")
DISTRICT_WEIGHTS = np.array([4.0, 3.0, 2.0, 1.0])
DISTRICT_INCOME = np.array([1.0, 0.85, 1.2, 0.95])
STREETS = ("01", "02", "04", "05", "06", "07", "11", "12", "15", "18", "20", "30")

JOBS = (
    "Clerk",
    "Accountant",
    "Manager",
    "Teacher",
    "Lawyer",
    "Nurse",
    "Doctor",
    "Shop assistant",
    "Cook",
    "Builder",
    "Electrician",
    "Farmer",
    "Driver",
    "Student",
    "Retired",
)
JOB_GROUPS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3])  # office, service, manual, not working
JOB_INCOMES = np.array([28, 38, 52, 36, 55, 32, 60, 22, 21, 29, 33, 24, 26, 13, 23], dtype=np.float64)
AGE_BANDS = np.array([26, 45, 66])
JOB_WEIGHTS = np.array(
    [  # by age band: to 25, to 44, to 65, above
        [4, 2, 1, 1, 0, 4, 0, 8, 6, 6, 4, 2, 3, 30, 0],
        [9, 6, 6, 8, 4, 9, 4, 7, 5, 8, 6, 4, 6, 3, 0],
        [9, 6, 8, 8, 4, 8, 4, 6, 4, 7, 5, 6, 6, 0, 6],
        [1, 1, 2, 1, 2, 1, 1, 1, 0, 0, 0, 4, 1, 0, 60],
    ],
    dtype=np.float64,
)
WOMEN_PER_JOB = np.array([6, 5, 3, 7, 4, 8, 5, 7, 5, 1, 1, 3, 1, 5, 5], dtype=np.float64) / 10

DIAGNOSES = (
    "Arthritis",
    "Asthma",
    "Bronchitis",
    "Depression",
    "Diabetes",
    "Dyspepsia",
    "Flu",
    "Gastritis",
    "Hypertension",
    "None",
)
HEALTHY = DIAGNOSES.index("None")
DIAGNOSES_BY_AGE = np.array(
    [
        [1, 14, 10, 11, 3, 8, 20, 9, 1, 18],
        [4, 9, 10, 14, 7, 10, 15, 12, 6, 14],
        [12, 6, 9, 11, 13, 9, 10, 11, 16, 9],
        [20, 4, 11, 6, 15, 7, 9, 6, 24, 5],
    ],
    dtype=np.float64,
)
DIAGNOSES_BY_SEX = np.array(
    [
        [1.4, 1.1, 1.0, 1.5, 0.8, 1.2, 1.0, 0.8, 0.8, 1.0],
        [0.8, 0.9, 1.0, 0.6, 1.2, 0.9, 1.0, 1.3, 1.2, 1.0],
    ]
)
DIAGNOSES_BY_JOB_GROUP = np.array(
    [
        [0.8, 0.9, 0.7, 1.3, 1.2, 1.5, 0.9, 1.5, 1.4, 1.0],
        [0.9, 1.0, 1.4, 1.2, 0.9, 0.9, 1.7, 0.9, 0.8, 0.9],
        [1.8, 1.4, 1.6, 0.6, 0.9, 0.8, 0.8, 0.9, 0.9, 0.8],
        [1.0, 0.9, 0.9, 1.0, 1.0, 1.0, 1.0, 0.9, 1.0, 1.2],
    ]
)
COMPANIONS = np.array(
    [  # a second diagnosis, by the first; the last column is none
        [0, 1, 1, 3, 3, 1, 1, 1, 5, 45],
        [1, 0, 9, 2, 1, 1, 5, 1, 1, 45],
        [1, 8, 0, 1, 1, 1, 6, 1, 1, 45],
        [2, 1, 1, 0, 2, 5, 1, 4, 1, 45],
        [2, 1, 1, 2, 0, 1, 1, 1, 14, 40],
        [1, 1, 1, 3, 1, 0, 1, 8, 1, 45],
        [1, 4, 8, 1, 1, 1, 0, 1, 1, 50],
        [1, 1, 1, 3, 1, 8, 1, 0, 2, 45],
        [3, 1, 1, 1, 12, 1, 1, 1, 0, 40],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ],
    dtype=np.float64,
)
STAY_DAYS = np.array([6, 3, 5, 9, 6, 2, 3, 4, 5, 1], dtype=np.float64)

INSURANCES = ("Employer", "Private basic", "Private plus", "Public basic", "Public plus", "Self-paid")
INSURANCES_BY_INCOME = np.array(
    [
        [10, 10, 3, 42, 20, 15],
        [22, 22, 9, 20, 20, 7],
        [22, 20, 26, 8, 14, 10],
    ],
    dtype=np.float64,
)
INSURANCES_BY_JOB_GROUP = np.array(
    [
        [1.4, 1.1, 1.2, 0.7, 0.9, 0.8],
        [1.2, 1.0, 0.9, 1.0, 1.0, 0.9],
        [1.3, 1.0, 0.7, 1.1, 0.8, 1.4],
        [0.1, 0.9, 1.0, 1.2, 1.5, 1.0],
    ]
)
INCOME_BANDS = np.array([23, 34])

CHOICES = np.array([3.0, 4.0, 3.0])
UNKNOWN_JOBS = 0.005
UNKNOWN_CHOICES = 0.015
