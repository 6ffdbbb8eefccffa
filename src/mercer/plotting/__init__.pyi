from .coverage import IntervalDisplay as IntervalDisplay
from .curves import LabelCurveDisplay as LabelCurveDisplay
from .maps import MapDisplay as MapDisplay
from .matrices import KernelMatrixDisplay as KernelMatrixDisplay
from .reliability import ReliabilityDisplay as ReliabilityDisplay
from .spectra import SpectrumDisplay as SpectrumDisplay
from .weights import KernelWeightsDisplay as KernelWeightsDisplay
