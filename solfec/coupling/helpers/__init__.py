"""Programs that run in processes of their own, beside other codes; they import numpy and nothing of Solfec, whose kernels their Python may lack."""
