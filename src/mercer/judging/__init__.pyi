from .hiding import Check as Check
from .hiding import Score as Score
from .hiding import check_by_hiding as check_by_hiding
from .intervals import held_out_interval as held_out_interval
from .intervals import paired_interval as paired_interval
from .intervals import wilson_interval as wilson_interval
from .suspicion import SuspiciousLabels as SuspiciousLabels
from .suspicion import rank_labels as rank_labels
