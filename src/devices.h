/*
  devices.h - every API of devices, one line each, the one that is tried first first: SPMV_DEVICE(name)

  The API itself is `const SpmvDeviceApi SpmvDeviceApi_<name>` in device/<name>/<name>.c; see device/device.h.
*/
SPMV_DEVICE(cuda)
SPMV_DEVICE(opencl)
