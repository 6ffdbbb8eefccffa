from .calibrated import TemperatureScaledClassifier as TemperatureScaledClassifier
from .calibrated import fit_temperature as fit_temperature
from .folds import SemiSupervisedKFold as SemiSupervisedKFold
from .pair_folds import PairKFold as PairKFold
from .reliability import expected_calibration_error as expected_calibration_error
from .scorer import LabeledScorer as LabeledScorer
