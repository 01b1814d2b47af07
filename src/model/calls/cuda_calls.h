/* What each function of CUDA's runtime and driver is, versions 11 to 13: those that CUPTI has a callback id for
 * (cupti_runtime_cbid.h, cupti_driver_cbid.h), by their names without leading underscores, "64" of old drivers,
 * versions (_v2) and forms of streams (_ptsz, _ptds). In the order of strcmp. */
#pragma once

// clang-format off
#define NAI_CUDA_CALLS(CALL) \
  CALL(cuArray3DCreate, ALLOCATION) CALL(cuArray3DGetDescriptor, OTHER) CALL(cuArrayCreate, ALLOCATION) \
  CALL(cuArrayDestroy, FREE) CALL(cuArrayGetDescriptor, OTHER) CALL(cuArrayGetMemoryRequirements, OTHER) \
  CALL(cuArrayGetPlane, OTHER) CALL(cuArrayGetSparseProperties, OTHER) CALL(cuBinaryFree, OTHER) \
  CALL(cuCheckpointProcessCheckpoint, OTHER) CALL(cuCheckpointProcessGetRestoreThreadId, OTHER) \
  CALL(cuCheckpointProcessGetState, OTHER) CALL(cuCheckpointProcessLock, OTHER) \
  CALL(cuCheckpointProcessRestore, OTHER) CALL(cuCheckpointProcessUnlock, OTHER) CALL(cuCompilePtx, OTHER) \
  CALL(cuCoredumpGetAttribute, OTHER) CALL(cuCoredumpGetAttributeGlobal, OTHER) CALL(cuCoredumpSetAttribute, OTHER) \
  CALL(cuCoredumpSetAttributeGlobal, OTHER) CALL(cuCtxAttach, OTHER) CALL(cuCtxCreate, OTHER) \
  CALL(cuCtxDestroy, OTHER) CALL(cuCtxDetach, OTHER) CALL(cuCtxDisablePeerAccess, OTHER) \
  CALL(cuCtxEnablePeerAccess, OTHER) CALL(cuCtxFromGreenCtx, OTHER) CALL(cuCtxGetApiVersion, OTHER) \
  CALL(cuCtxGetCacheConfig, OTHER) CALL(cuCtxGetCurrent, OTHER) CALL(cuCtxGetDevResource, OTHER) \
  CALL(cuCtxGetDevice, OTHER) CALL(cuCtxGetExecAffinity, OTHER) CALL(cuCtxGetFlags, OTHER) CALL(cuCtxGetId, OTHER) \
  CALL(cuCtxGetLimit, OTHER) CALL(cuCtxGetSharedMemConfig, OTHER) CALL(cuCtxGetStreamPriorityRange, OTHER) \
  CALL(cuCtxPopCurrent, OTHER) CALL(cuCtxPushCurrent, OTHER) CALL(cuCtxRecordEvent, RECORD) \
  CALL(cuCtxResetPersistingL2Cache, OTHER) CALL(cuCtxSetCacheConfig, OTHER) CALL(cuCtxSetCurrent, OTHER) \
  CALL(cuCtxSetFlags, OTHER) CALL(cuCtxSetLimit, OTHER) CALL(cuCtxSetSharedMemConfig, OTHER) \
  CALL(cuCtxSynchronize, BLOCKING) CALL(cuCtxWaitEvent, ORDERING) CALL(cuD3D10CtxCreate, INTEROP) \
  CALL(cuD3D10CtxCreateOnDevice, INTEROP) CALL(cuD3D10GetDevice, INTEROP) CALL(cuD3D10GetDevices, INTEROP) \
  CALL(cuD3D10GetDirect3DDevice, INTEROP) CALL(cuD3D10MapResources, INTEROP) CALL(cuD3D10RegisterResource, INTEROP) \
  CALL(cuD3D10ResourceGetMappedArray, INTEROP) CALL(cuD3D10ResourceGetMappedPitch, INTEROP) \
  CALL(cuD3D10ResourceGetMappedPointer, INTEROP) CALL(cuD3D10ResourceGetMappedSize, INTEROP) \
  CALL(cuD3D10ResourceGetSurfaceDimensions, INTEROP) CALL(cuD3D10ResourceSetMapFlags, INTEROP) \
  CALL(cuD3D10UnmapResources, INTEROP) CALL(cuD3D10UnregisterResource, INTEROP) CALL(cuD3D11CtxCreate, INTEROP) \
  CALL(cuD3D11CtxCreateOnDevice, INTEROP) CALL(cuD3D11GetDevice, INTEROP) CALL(cuD3D11GetDevices, INTEROP) \
  CALL(cuD3D11GetDirect3DDevice, INTEROP) CALL(cuD3D9Begin, INTEROP) CALL(cuD3D9CtxCreate, INTEROP) \
  CALL(cuD3D9CtxCreateOnDevice, INTEROP) CALL(cuD3D9End, INTEROP) CALL(cuD3D9GetDevice, INTEROP) \
  CALL(cuD3D9GetDevices, INTEROP) CALL(cuD3D9GetDirect3DDevice, INTEROP) CALL(cuD3D9MapResources, INTEROP) \
  CALL(cuD3D9MapVertexBuffer, INTEROP) CALL(cuD3D9RegisterResource, INTEROP) CALL(cuD3D9RegisterVertexBuffer, INTEROP) \
  CALL(cuD3D9ResourceGetMappedArray, INTEROP) CALL(cuD3D9ResourceGetMappedPitch, INTEROP) \
  CALL(cuD3D9ResourceGetMappedPointer, INTEROP) CALL(cuD3D9ResourceGetMappedSize, INTEROP) \
  CALL(cuD3D9ResourceGetSurfaceDimensions, INTEROP) CALL(cuD3D9ResourceSetMapFlags, INTEROP) \
  CALL(cuD3D9UnmapResources, INTEROP) CALL(cuD3D9UnmapVertexBuffer, INTEROP) CALL(cuD3D9UnregisterResource, INTEROP) \
  CALL(cuD3D9UnregisterVertexBuffer, INTEROP) CALL(cuDestroyExternalMemory, INTEROP) \
  CALL(cuDestroyExternalSemaphore, INTEROP) CALL(cuDevResourceGenerateDesc, OTHER) \
  CALL(cuDevSmResourceSplitByCount, OTHER) CALL(cuDeviceCanAccessPeer, OTHER) CALL(cuDeviceComputeCapability, OTHER) \
  CALL(cuDeviceGet, OTHER) CALL(cuDeviceGetAttribute, OTHER) CALL(cuDeviceGetByPCIBusId, OTHER) \
  CALL(cuDeviceGetCount, OTHER) CALL(cuDeviceGetDefaultMemPool, OTHER) CALL(cuDeviceGetDevResource, OTHER) \
  CALL(cuDeviceGetExecAffinitySupport, OTHER) CALL(cuDeviceGetGraphMemAttribute, OTHER) \
  CALL(cuDeviceGetHostAtomicCapabilities, OTHER) CALL(cuDeviceGetLuid, OTHER) CALL(cuDeviceGetMemPool, OTHER) \
  CALL(cuDeviceGetName, OTHER) CALL(cuDeviceGetNvSciSyncAttributes, OTHER) \
  CALL(cuDeviceGetP2PAtomicCapabilities, OTHER) CALL(cuDeviceGetP2PAttribute, OTHER) CALL(cuDeviceGetPCIBusId, OTHER) \
  CALL(cuDeviceGetProperties, OTHER) CALL(cuDeviceGetTexture1DLinearMaxWidth, OTHER) CALL(cuDeviceGetUuid, OTHER) \
  CALL(cuDeviceGraphMemTrim, ADDRESS) CALL(cuDevicePrimaryCtxGetState, OTHER) CALL(cuDevicePrimaryCtxRelease, OTHER) \
  CALL(cuDevicePrimaryCtxReset, OTHER) CALL(cuDevicePrimaryCtxRetain, OTHER) CALL(cuDevicePrimaryCtxSetFlags, OTHER) \
  CALL(cuDeviceRegisterAsyncNotification, OTHER) CALL(cuDeviceSetGraphMemAttribute, OTHER) \
  CALL(cuDeviceSetMemPool, OTHER) CALL(cuDeviceTotalMem, OTHER) CALL(cuDeviceUnregisterAsyncNotification, OTHER) \
  CALL(cuDriverGetGpuCodeIsaVersion, OTHER) CALL(cuDriverGetVersion, OTHER) \
  CALL(cuEGLStreamConsumerAcquireFrame, INTEROP) CALL(cuEGLStreamConsumerConnect, INTEROP) \
  CALL(cuEGLStreamConsumerConnectWithFlags, INTEROP) CALL(cuEGLStreamConsumerDisconnect, INTEROP) \
  CALL(cuEGLStreamConsumerReleaseFrame, INTEROP) CALL(cuEGLStreamProducerConnect, INTEROP) \
  CALL(cuEGLStreamProducerDisconnect, INTEROP) CALL(cuEGLStreamProducerPresentFrame, INTEROP) \
  CALL(cuEGLStreamProducerReturnFrame, INTEROP) CALL(cuEventCreate, OTHER) CALL(cuEventCreateFromEGLSync, OTHER) \
  CALL(cuEventCreateFromNVNSync, OTHER) CALL(cuEventDestroy, OTHER) CALL(cuEventElapsedTime, OTHER) \
  CALL(cuEventQuery, POLL) CALL(cuEventRecord, RECORD) CALL(cuEventRecordWithFlags, RECORD) \
  CALL(cuEventSynchronize, BLOCKING) CALL(cuExternalMemoryGetMappedBuffer, INTEROP) \
  CALL(cuExternalMemoryGetMappedMipmappedArray, INTEROP) CALL(cuFlushGPUDirectRDMAWrites, OTHER) \
  CALL(cuFuncGetAttribute, MODULE) CALL(cuFuncGetModule, MODULE) CALL(cuFuncGetName, MODULE) \
  CALL(cuFuncGetParamInfo, MODULE) CALL(cuFuncIsLoaded, MODULE) CALL(cuFuncLoad, MODULE) \
  CALL(cuFuncSetAttribute, OTHER) CALL(cuFuncSetBlockShape, OTHER) CALL(cuFuncSetCacheConfig, OTHER) \
  CALL(cuFuncSetSharedMemConfig, OTHER) CALL(cuFuncSetSharedSize, OTHER) CALL(cuGLCtxCreate, INTEROP) \
  CALL(cuGLGetDevices, INTEROP) CALL(cuGLInit, INTEROP) CALL(cuGLMapBufferObject, INTEROP) \
  CALL(cuGLMapBufferObjectAsync, INTEROP) CALL(cuGLRegisterBufferObject, INTEROP) \
  CALL(cuGLSetBufferObjectMapFlags, INTEROP) CALL(cuGLUnmapBufferObject, INTEROP) \
  CALL(cuGLUnmapBufferObjectAsync, INTEROP) CALL(cuGLUnregisterBufferObject, INTEROP) CALL(cuGetErrorName, OTHER) \
  CALL(cuGetErrorString, OTHER) CALL(cuGetExportTable, OTHER) CALL(cuGetProcAddress, OTHER) \
  CALL(cuGraphAddBatchMemOpNode, GRAPH) CALL(cuGraphAddChildGraphNode, GRAPH) CALL(cuGraphAddDependencies, GRAPH) \
  CALL(cuGraphAddEmptyNode, GRAPH) CALL(cuGraphAddEventRecordNode, GRAPH) CALL(cuGraphAddEventWaitNode, GRAPH) \
  CALL(cuGraphAddExternalSemaphoresSignalNode, GRAPH) CALL(cuGraphAddExternalSemaphoresWaitNode, GRAPH) \
  CALL(cuGraphAddHostNode, GRAPH) CALL(cuGraphAddKernelNode, GRAPH) CALL(cuGraphAddMemAllocNode, GRAPH) \
  CALL(cuGraphAddMemFreeNode, GRAPH) CALL(cuGraphAddMemcpyNode, GRAPH) CALL(cuGraphAddMemsetNode, GRAPH) \
  CALL(cuGraphAddNode, GRAPH) CALL(cuGraphBatchMemOpNodeGetParams, GRAPH) CALL(cuGraphBatchMemOpNodeSetParams, GRAPH) \
  CALL(cuGraphChildGraphNodeGetGraph, GRAPH) CALL(cuGraphClone, GRAPH) CALL(cuGraphConditionalHandleCreate, GRAPH) \
  CALL(cuGraphCreate, GRAPH) CALL(cuGraphDebugDotPrint, GRAPH) CALL(cuGraphDestroy, GRAPH) \
  CALL(cuGraphDestroyNode, GRAPH) CALL(cuGraphEventRecordNodeGetEvent, GRAPH) \
  CALL(cuGraphEventRecordNodeSetEvent, GRAPH) CALL(cuGraphEventWaitNodeGetEvent, GRAPH) \
  CALL(cuGraphEventWaitNodeSetEvent, GRAPH) CALL(cuGraphExecBatchMemOpNodeSetParams, GRAPH) \
  CALL(cuGraphExecChildGraphNodeSetParams, GRAPH) CALL(cuGraphExecDestroy, GRAPH) \
  CALL(cuGraphExecEventRecordNodeSetEvent, GRAPH) CALL(cuGraphExecEventWaitNodeSetEvent, GRAPH) \
  CALL(cuGraphExecExternalSemaphoresSignalNodeSetParams, GRAPH) \
  CALL(cuGraphExecExternalSemaphoresWaitNodeSetParams, GRAPH) CALL(cuGraphExecGetFlags, GRAPH) \
  CALL(cuGraphExecHostNodeSetParams, GRAPH) CALL(cuGraphExecKernelNodeSetParams, GRAPH) \
  CALL(cuGraphExecMemcpyNodeSetParams, GRAPH) CALL(cuGraphExecMemsetNodeSetParams, GRAPH) \
  CALL(cuGraphExecNodeSetParams, GRAPH) CALL(cuGraphExecUpdate, GRAPH) \
  CALL(cuGraphExternalSemaphoresSignalNodeGetParams, GRAPH) CALL(cuGraphExternalSemaphoresSignalNodeSetParams, GRAPH) \
  CALL(cuGraphExternalSemaphoresWaitNodeGetParams, GRAPH) CALL(cuGraphExternalSemaphoresWaitNodeSetParams, GRAPH) \
  CALL(cuGraphGetEdges, GRAPH) CALL(cuGraphGetNodes, GRAPH) CALL(cuGraphGetRootNodes, GRAPH) \
  CALL(cuGraphHostNodeGetParams, GRAPH) CALL(cuGraphHostNodeSetParams, GRAPH) CALL(cuGraphInstantiate, GRAPH) \
  CALL(cuGraphInstantiateWithFlags, GRAPH) CALL(cuGraphInstantiateWithParams, GRAPH) \
  CALL(cuGraphKernelNodeCopyAttributes, GRAPH) CALL(cuGraphKernelNodeGetAttribute, GRAPH) \
  CALL(cuGraphKernelNodeGetParams, GRAPH) CALL(cuGraphKernelNodeSetAttribute, GRAPH) \
  CALL(cuGraphKernelNodeSetParams, GRAPH) CALL(cuGraphLaunch, GRAPH_LAUNCH) CALL(cuGraphMemAllocNodeGetParams, GRAPH) \
  CALL(cuGraphMemFreeNodeGetParams, GRAPH) CALL(cuGraphMemcpyNodeGetParams, GRAPH) \
  CALL(cuGraphMemcpyNodeSetParams, GRAPH) CALL(cuGraphMemsetNodeGetParams, GRAPH) \
  CALL(cuGraphMemsetNodeSetParams, GRAPH) CALL(cuGraphNodeFindInClone, GRAPH) CALL(cuGraphNodeGetDependencies, GRAPH) \
  CALL(cuGraphNodeGetDependentNodes, GRAPH) CALL(cuGraphNodeGetEnabled, GRAPH) CALL(cuGraphNodeGetType, GRAPH) \
  CALL(cuGraphNodeSetEnabled, GRAPH) CALL(cuGraphNodeSetParams, GRAPH) CALL(cuGraphReleaseUserObject, GRAPH) \
  CALL(cuGraphRemoveDependencies, GRAPH) CALL(cuGraphRetainUserObject, GRAPH) CALL(cuGraphUpload, GRAPH) \
  CALL(cuGraphicsD3D10RegisterResource, INTEROP) CALL(cuGraphicsD3D11RegisterResource, INTEROP) \
  CALL(cuGraphicsD3D9RegisterResource, INTEROP) CALL(cuGraphicsEGLRegisterImage, INTEROP) \
  CALL(cuGraphicsGLRegisterBuffer, INTEROP) CALL(cuGraphicsGLRegisterImage, INTEROP) \
  CALL(cuGraphicsMapResources, INTEROP) CALL(cuGraphicsResourceGetMappedEglFrame, INTEROP) \
  CALL(cuGraphicsResourceGetMappedMipmappedArray, INTEROP) CALL(cuGraphicsResourceGetMappedPointer, INTEROP) \
  CALL(cuGraphicsResourceSetMapFlags, INTEROP) CALL(cuGraphicsSubResourceGetMappedArray, INTEROP) \
  CALL(cuGraphicsUnmapResources, INTEROP) CALL(cuGraphicsUnregisterResource, INTEROP) \
  CALL(cuGraphicsVDPAURegisterOutputSurface, INTEROP) CALL(cuGraphicsVDPAURegisterVideoSurface, INTEROP) \
  CALL(cuGreenCtxCreate, OTHER) CALL(cuGreenCtxDestroy, OTHER) CALL(cuGreenCtxGetDevResource, OTHER) \
  CALL(cuGreenCtxGetId, OTHER) CALL(cuGreenCtxRecordEvent, RECORD) CALL(cuGreenCtxStreamCreate, OTHER) \
  CALL(cuGreenCtxWaitEvent, ORDERING) CALL(cuImportExternalMemory, INTEROP) CALL(cuImportExternalSemaphore, INTEROP) \
  CALL(cuInit, OTHER) CALL(cuIpcCloseMemHandle, ADDRESS) CALL(cuIpcGetEventHandle, OTHER) \
  CALL(cuIpcGetMemHandle, OTHER) CALL(cuIpcOpenEventHandle, OTHER) CALL(cuIpcOpenMemHandle, ADDRESS) \
  CALL(cuKernelGetAttribute, MODULE) CALL(cuKernelGetFunction, LOADING) CALL(cuKernelGetLibrary, MODULE) \
  CALL(cuKernelGetName, MODULE) CALL(cuKernelGetParamInfo, MODULE) CALL(cuKernelSetAttribute, OTHER) \
  CALL(cuKernelSetCacheConfig, OTHER) CALL(cuLaunch, LAUNCH) CALL(cuLaunchCooperativeKernel, LAUNCH) \
  CALL(cuLaunchCooperativeKernelMultiDevice, LAUNCH) CALL(cuLaunchGrid, LAUNCH) CALL(cuLaunchGridAsync, LAUNCH) \
  CALL(cuLaunchHostFunc, HOST_FUNCTION) CALL(cuLaunchKernel, LAUNCH) CALL(cuLaunchKernelEx, LAUNCH) \
  CALL(cuLibraryEnumerateKernels, MODULE) CALL(cuLibraryGetGlobal, LOADING) CALL(cuLibraryGetKernel, LOADING) \
  CALL(cuLibraryGetKernelCount, LOADING) CALL(cuLibraryGetManaged, LOADING) CALL(cuLibraryGetModule, LOADING) \
  CALL(cuLibraryGetUnifiedFunction, LOADING) CALL(cuLibraryLoadData, LOADING) CALL(cuLibraryLoadFromFile, LOADING) \
  CALL(cuLibraryUnload, MODULE) CALL(cuLinkAddData, LOADING) CALL(cuLinkAddFile, LOADING) \
  CALL(cuLinkComplete, LOADING) CALL(cuLinkCreate, LOADING) CALL(cuLinkDestroy, LOADING) CALL(cuLogsCurrent, OTHER) \
  CALL(cuLogsDumpToFile, OTHER) CALL(cuLogsDumpToMemory, OTHER) CALL(cuLogsRegisterCallback, OTHER) \
  CALL(cuLogsUnregisterCallback, OTHER) CALL(cuMemAddressFree, ADDRESS) CALL(cuMemAddressReserve, ADDRESS) \
  CALL(cuMemAdvise, OTHER) CALL(cuMemAlloc, ALLOCATION) CALL(cuMemAllocAsync, ALLOCATION) \
  CALL(cuMemAllocFromPoolAsync, ALLOCATION) CALL(cuMemAllocHost, ALLOCATION) CALL(cuMemAllocManaged, ALLOCATION) \
  CALL(cuMemAllocPitch, ALLOCATION) CALL(cuMemBatchDecompressAsync, COPY) CALL(cuMemCreate, ALLOCATION) \
  CALL(cuMemDiscardAndPrefetchBatchAsync, COPY) CALL(cuMemDiscardBatchAsync, COPY) \
  CALL(cuMemExportToShareableHandle, ADDRESS) CALL(cuMemFree, FREE) CALL(cuMemFreeAsync, FREE) \
  CALL(cuMemFreeHost, FREE) CALL(cuMemGetAccess, OTHER) CALL(cuMemGetAddressRange, OTHER) \
  CALL(cuMemGetAllocationGranularity, OTHER) CALL(cuMemGetAllocationPropertiesFromHandle, OTHER) \
  CALL(cuMemGetDefaultMemPool, OTHER) CALL(cuMemGetHandleForAddressRange, OTHER) CALL(cuMemGetInfo, OTHER) \
  CALL(cuMemGetMemPool, OTHER) CALL(cuMemHostAlloc, ALLOCATION) CALL(cuMemHostGetDevicePointer, OTHER) \
  CALL(cuMemHostGetFlags, OTHER) CALL(cuMemHostRegister, ALLOCATION) CALL(cuMemHostUnregister, ALLOCATION) \
  CALL(cuMemImportFromShareableHandle, ADDRESS) CALL(cuMemMap, ALLOCATION) CALL(cuMemMapArrayAsync, ALLOCATION) \
  CALL(cuMemPeerGetDevicePointer, OTHER) CALL(cuMemPeerRegister, OTHER) CALL(cuMemPeerUnregister, OTHER) \
  CALL(cuMemPoolCreate, ADDRESS) CALL(cuMemPoolDestroy, ADDRESS) CALL(cuMemPoolExportPointer, ADDRESS) \
  CALL(cuMemPoolExportToShareableHandle, ADDRESS) CALL(cuMemPoolGetAccess, OTHER) CALL(cuMemPoolGetAttribute, OTHER) \
  CALL(cuMemPoolImportFromShareableHandle, ADDRESS) CALL(cuMemPoolImportPointer, ADDRESS) \
  CALL(cuMemPoolSetAccess, OTHER) CALL(cuMemPoolSetAttribute, OTHER) CALL(cuMemPoolTrimTo, ADDRESS) \
  CALL(cuMemPrefetchAsync, COPY) CALL(cuMemPrefetchBatchAsync, COPY) CALL(cuMemRangeGetAttribute, OTHER) \
  CALL(cuMemRangeGetAttributes, OTHER) CALL(cuMemRelease, ALLOCATION) CALL(cuMemRetainAllocationHandle, ADDRESS) \
  CALL(cuMemSetAccess, ALLOCATION) CALL(cuMemSetMemPool, OTHER) CALL(cuMemUnmap, ALLOCATION) \
  CALL(cuMemcpy, BLOCKING_COPY) CALL(cuMemcpy2D, BLOCKING_COPY) CALL(cuMemcpy2DAsync, COPY) \
  CALL(cuMemcpy2DUnaligned, BLOCKING_COPY) CALL(cuMemcpy3D, BLOCKING_COPY) CALL(cuMemcpy3DAsync, COPY) \
  CALL(cuMemcpy3DBatchAsync, COPY) CALL(cuMemcpy3DPeer, BLOCKING_COPY) CALL(cuMemcpy3DPeerAsync, COPY) \
  CALL(cuMemcpyAsync, COPY) CALL(cuMemcpyAtoA, BLOCKING_COPY) CALL(cuMemcpyAtoD, BLOCKING_COPY) \
  CALL(cuMemcpyAtoH, BLOCKING_COPY) CALL(cuMemcpyAtoHAsync, COPY) CALL(cuMemcpyBatchAsync, COPY) \
  CALL(cuMemcpyDtoA, BLOCKING_COPY) CALL(cuMemcpyDtoD, BLOCKING_COPY) CALL(cuMemcpyDtoDAsync, COPY) \
  CALL(cuMemcpyDtoH, BLOCKING_COPY) CALL(cuMemcpyDtoHAsync, COPY) CALL(cuMemcpyHtoA, BLOCKING_COPY) \
  CALL(cuMemcpyHtoAAsync, COPY) CALL(cuMemcpyHtoD, BLOCKING_COPY) CALL(cuMemcpyHtoDAsync, COPY) \
  CALL(cuMemcpyPeer, BLOCKING_COPY) CALL(cuMemcpyPeerAsync, COPY) CALL(cuMemsetD16, BLOCKING_COPY) \
  CALL(cuMemsetD16Async, COPY) CALL(cuMemsetD2D16, BLOCKING_COPY) CALL(cuMemsetD2D16Async, COPY) \
  CALL(cuMemsetD2D32, BLOCKING_COPY) CALL(cuMemsetD2D32Async, COPY) CALL(cuMemsetD2D8, BLOCKING_COPY) \
  CALL(cuMemsetD2D8Async, COPY) CALL(cuMemsetD32, BLOCKING_COPY) CALL(cuMemsetD32Async, COPY) \
  CALL(cuMemsetD8, BLOCKING_COPY) CALL(cuMemsetD8Async, COPY) CALL(cuMipmappedArrayCreate, ALLOCATION) \
  CALL(cuMipmappedArrayDestroy, FREE) CALL(cuMipmappedArrayGetLevel, OTHER) \
  CALL(cuMipmappedArrayGetMemoryRequirements, OTHER) CALL(cuMipmappedArrayGetSparseProperties, OTHER) \
  CALL(cuModuleEnumerateFunctions, MODULE) CALL(cuModuleGetFunction, LOADING) CALL(cuModuleGetFunctionCount, MODULE) \
  CALL(cuModuleGetGlobal, MODULE) CALL(cuModuleGetLoadingMode, MODULE) CALL(cuModuleGetSurfRef, MODULE) \
  CALL(cuModuleGetTexRef, MODULE) CALL(cuModuleLoad, LOADING) CALL(cuModuleLoadData, LOADING) \
  CALL(cuModuleLoadDataEx, LOADING) CALL(cuModuleLoadFatBinary, LOADING) CALL(cuModuleUnload, MODULE) \
  CALL(cuMultiKernelCooperativeDomainCreate, OTHER) CALL(cuMultiKernelCooperativeDomainDestroy, OTHER) \
  CALL(cuMulticastAddDevice, ADDRESS) CALL(cuMulticastBindAddr, ADDRESS) CALL(cuMulticastBindMem, ADDRESS) \
  CALL(cuMulticastCreate, ADDRESS) CALL(cuMulticastGetGranularity, ADDRESS) CALL(cuMulticastUnbind, ADDRESS) \
  CALL(cuNNSetAllocator, OTHER) CALL(cuNVNbufferGetPointer, INTEROP) CALL(cuNVNtextureGetArray, INTEROP) \
  CALL(cuOccupancyAvailableDynamicSMemPerBlock, OTHER) CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, OTHER) \
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, OTHER) CALL(cuOccupancyMaxActiveClusters, OTHER) \
  CALL(cuOccupancyMaxPotentialBlockSize, OTHER) CALL(cuOccupancyMaxPotentialBlockSizeWithFlags, OTHER) \
  CALL(cuOccupancyMaxPotentialClusterSize, OTHER) CALL(cuParamSetSize, OTHER) CALL(cuParamSetTexRef, OTHER) \
  CALL(cuParamSetf, OTHER) CALL(cuParamSeti, OTHER) CALL(cuParamSetv, OTHER) CALL(cuPointerGetAttribute, OTHER) \
  CALL(cuPointerGetAttributes, OTHER) CALL(cuPointerSetAttribute, OTHER) CALL(cuProfilerInitialize, OTHER) \
  CALL(cuProfilerStart, OTHER) CALL(cuProfilerStop, OTHER) CALL(cuSemaphoreCreate, OTHER) \
  CALL(cuSemaphoreDestroy, OTHER) CALL(cuSemaphoreExport, OTHER) CALL(cuSignalExternalSemaphoresAsync, INTEROP) \
  CALL(cuStreamAddCallback, HOST_FUNCTION) CALL(cuStreamAttachMemAsync, OTHER) CALL(cuStreamBatchMemOp, OTHER) \
  CALL(cuStreamBeginCapture, CAPTURE) CALL(cuStreamBeginCaptureToGraph, CAPTURE) CALL(cuStreamCopyAttributes, OTHER) \
  CALL(cuStreamCreate, OTHER) CALL(cuStreamCreateForCaptureToCig, OTHER) CALL(cuStreamCreateWithPriority, OTHER) \
  CALL(cuStreamDestroy, OTHER) CALL(cuStreamEndCapture, CAPTURE) CALL(cuStreamGetAttribute, OTHER) \
  CALL(cuStreamGetCaptureInfo, CAPTURE) CALL(cuStreamGetCtx, OTHER) CALL(cuStreamGetDevice, OTHER) \
  CALL(cuStreamGetFlags, OTHER) CALL(cuStreamGetGreenCtx, OTHER) CALL(cuStreamGetId, OTHER) \
  CALL(cuStreamGetPriority, OTHER) CALL(cuStreamIsCapturing, OTHER) CALL(cuStreamQuery, POLL) \
  CALL(cuStreamSetAttribute, OTHER) CALL(cuStreamSetFlags, OTHER) CALL(cuStreamSynchronize, BLOCKING) \
  CALL(cuStreamUpdateCaptureDependencies, CAPTURE) CALL(cuStreamWaitEvent, ORDERING) \
  CALL(cuStreamWaitValue32, ORDERING) CALL(cuStreamWaitValue64, ORDERING) CALL(cuStreamWriteValue32, OTHER) \
  CALL(cuStreamWriteValue64, OTHER) CALL(cuSurfObjectCreate, OTHER) CALL(cuSurfObjectDestroy, OTHER) \
  CALL(cuSurfObjectGetResourceDesc, OTHER) CALL(cuSurfRefCreate, OTHER) CALL(cuSurfRefDestroy, OTHER) \
  CALL(cuSurfRefGetArray, OTHER) CALL(cuSurfRefGetFormat, OTHER) CALL(cuSurfRefSetArray, OTHER) \
  CALL(cuSurfRefSetFormat, OTHER) CALL(cuTensorMapEncodeIm2col, OTHER) CALL(cuTensorMapEncodeIm2colWide, OTHER) \
  CALL(cuTensorMapEncodeTiled, OTHER) CALL(cuTensorMapReplaceAddress, OTHER) CALL(cuTexObjectCreate, OTHER) \
  CALL(cuTexObjectDestroy, OTHER) CALL(cuTexObjectGetResourceDesc, OTHER) CALL(cuTexObjectGetResourceViewDesc, OTHER) \
  CALL(cuTexObjectGetTextureDesc, OTHER) CALL(cuTexRefCreate, OTHER) CALL(cuTexRefDestroy, OTHER) \
  CALL(cuTexRefGetAddress, OTHER) CALL(cuTexRefGetAddressMode, OTHER) CALL(cuTexRefGetArray, OTHER) \
  CALL(cuTexRefGetBorderColor, OTHER) CALL(cuTexRefGetFilterMode, OTHER) CALL(cuTexRefGetFlags, OTHER) \
  CALL(cuTexRefGetFormat, OTHER) CALL(cuTexRefGetMaxAnisotropy, OTHER) CALL(cuTexRefGetMipmapFilterMode, OTHER) \
  CALL(cuTexRefGetMipmapLevelBias, OTHER) CALL(cuTexRefGetMipmapLevelClamp, OTHER) \
  CALL(cuTexRefGetMipmappedArray, OTHER) CALL(cuTexRefSetAddress, OTHER) CALL(cuTexRefSetAddress2D, OTHER) \
  CALL(cuTexRefSetAddressMode, OTHER) CALL(cuTexRefSetArray, OTHER) CALL(cuTexRefSetBorderColor, OTHER) \
  CALL(cuTexRefSetFilterMode, OTHER) CALL(cuTexRefSetFlags, OTHER) CALL(cuTexRefSetFormat, OTHER) \
  CALL(cuTexRefSetMaxAnisotropy, OTHER) CALL(cuTexRefSetMipmapFilterMode, OTHER) \
  CALL(cuTexRefSetMipmapLevelBias, OTHER) CALL(cuTexRefSetMipmapLevelClamp, OTHER) \
  CALL(cuTexRefSetMipmappedArray, OTHER) CALL(cuThreadExchangeStreamCaptureMode, CAPTURE) \
  CALL(cuUserObjectCreate, OTHER) CALL(cuUserObjectRelease, OTHER) CALL(cuUserObjectRetain, OTHER) \
  CALL(cuVDPAUCtxCreate, INTEROP) CALL(cuVDPAUGetDevice, INTEROP) CALL(cuWGLGetDevice, INTEROP) \
  CALL(cuWaitExternalSemaphoresAsync, ORDERING) CALL(cudaArrayGetInfo, OTHER) \
  CALL(cudaArrayGetMemoryRequirements, OTHER) CALL(cudaArrayGetPlane, OTHER) CALL(cudaArrayGetSparseProperties, OTHER) \
  CALL(cudaBindSurfaceToArray, OTHER) CALL(cudaBindTexture, OTHER) CALL(cudaBindTexture2D, OTHER) \
  CALL(cudaBindTextureToArray, OTHER) CALL(cudaBindTextureToMipmappedArray, OTHER) CALL(cudaChooseDevice, OTHER) \
  CALL(cudaConfigureCall, OTHER) CALL(cudaCreateChannelDesc, OTHER) CALL(cudaCreateSurfaceObject, OTHER) \
  CALL(cudaCreateTextureObject, OTHER) CALL(cudaCtxResetPersistingL2Cache, OTHER) CALL(cudaD3D10GetDevice, INTEROP) \
  CALL(cudaD3D10GetDevices, INTEROP) CALL(cudaD3D10GetDirect3DDevice, INTEROP) CALL(cudaD3D10MapResources, INTEROP) \
  CALL(cudaD3D10RegisterResource, INTEROP) CALL(cudaD3D10ResourceGetMappedArray, INTEROP) \
  CALL(cudaD3D10ResourceGetMappedPitch, INTEROP) CALL(cudaD3D10ResourceGetMappedPointer, INTEROP) \
  CALL(cudaD3D10ResourceGetMappedSize, INTEROP) CALL(cudaD3D10ResourceGetSurfaceDimensions, INTEROP) \
  CALL(cudaD3D10ResourceSetMapFlags, INTEROP) CALL(cudaD3D10SetDirect3DDevice, INTEROP) \
  CALL(cudaD3D10UnmapResources, INTEROP) CALL(cudaD3D10UnregisterResource, INTEROP) CALL(cudaD3D11GetDevice, INTEROP) \
  CALL(cudaD3D11GetDevices, INTEROP) CALL(cudaD3D11GetDirect3DDevice, INTEROP) \
  CALL(cudaD3D11SetDirect3DDevice, INTEROP) CALL(cudaD3D9Begin, INTEROP) CALL(cudaD3D9End, INTEROP) \
  CALL(cudaD3D9GetDevice, INTEROP) CALL(cudaD3D9GetDevices, INTEROP) CALL(cudaD3D9GetDirect3DDevice, INTEROP) \
  CALL(cudaD3D9MapResources, INTEROP) CALL(cudaD3D9MapVertexBuffer, INTEROP) CALL(cudaD3D9RegisterResource, INTEROP) \
  CALL(cudaD3D9RegisterVertexBuffer, INTEROP) CALL(cudaD3D9ResourceGetMappedArray, INTEROP) \
  CALL(cudaD3D9ResourceGetMappedPitch, INTEROP) CALL(cudaD3D9ResourceGetMappedPointer, INTEROP) \
  CALL(cudaD3D9ResourceGetMappedSize, INTEROP) CALL(cudaD3D9ResourceGetSurfaceDimensions, INTEROP) \
  CALL(cudaD3D9ResourceSetMapFlags, INTEROP) CALL(cudaD3D9SetDirect3DDevice, INTEROP) \
  CALL(cudaD3D9UnmapResources, INTEROP) CALL(cudaD3D9UnmapVertexBuffer, INTEROP) \
  CALL(cudaD3D9UnregisterResource, INTEROP) CALL(cudaD3D9UnregisterVertexBuffer, INTEROP) \
  CALL(cudaDestroyExternalMemory, INTEROP) CALL(cudaDestroyExternalSemaphore, INTEROP) \
  CALL(cudaDestroySurfaceObject, OTHER) CALL(cudaDestroyTextureObject, OTHER) CALL(cudaDeviceCanAccessPeer, OTHER) \
  CALL(cudaDeviceDisablePeerAccess, OTHER) CALL(cudaDeviceEnablePeerAccess, OTHER) \
  CALL(cudaDeviceFlushGPUDirectRDMAWrites, OTHER) CALL(cudaDeviceGetAttribute, OTHER) \
  CALL(cudaDeviceGetByPCIBusId, OTHER) CALL(cudaDeviceGetCacheConfig, OTHER) CALL(cudaDeviceGetDefaultMemPool, OTHER) \
  CALL(cudaDeviceGetGraphMemAttribute, OTHER) CALL(cudaDeviceGetHostAtomicCapabilities, OTHER) \
  CALL(cudaDeviceGetLimit, OTHER) CALL(cudaDeviceGetMemPool, OTHER) CALL(cudaDeviceGetNvSciSyncAttributes, OTHER) \
  CALL(cudaDeviceGetP2PAtomicCapabilities, OTHER) CALL(cudaDeviceGetP2PAttribute, OTHER) \
  CALL(cudaDeviceGetPCIBusId, OTHER) CALL(cudaDeviceGetSharedMemConfig, OTHER) \
  CALL(cudaDeviceGetStreamPriorityRange, OTHER) CALL(cudaDeviceGetTexture1DLinearMaxWidth, OTHER) \
  CALL(cudaDeviceGraphMemTrim, ADDRESS) CALL(cudaDeviceRegisterAsyncNotification, OTHER) CALL(cudaDeviceReset, OTHER) \
  CALL(cudaDeviceSetCacheConfig, OTHER) CALL(cudaDeviceSetGraphMemAttribute, OTHER) CALL(cudaDeviceSetLimit, OTHER) \
  CALL(cudaDeviceSetMemPool, OTHER) CALL(cudaDeviceSetSharedMemConfig, OTHER) CALL(cudaDeviceSynchronize, BLOCKING) \
  CALL(cudaDeviceUnregisterAsyncNotification, OTHER) CALL(cudaDriverGetVersion, OTHER) \
  CALL(cudaEGLStreamConsumerAcquireFrame, INTEROP) CALL(cudaEGLStreamConsumerConnect, INTEROP) \
  CALL(cudaEGLStreamConsumerConnectWithFlags, INTEROP) CALL(cudaEGLStreamConsumerDisconnect, INTEROP) \
  CALL(cudaEGLStreamConsumerReleaseFrame, INTEROP) CALL(cudaEGLStreamProducerConnect, INTEROP) \
  CALL(cudaEGLStreamProducerDisconnect, INTEROP) CALL(cudaEGLStreamProducerPresentFrame, INTEROP) \
  CALL(cudaEGLStreamProducerReturnFrame, INTEROP) CALL(cudaEventCreate, OTHER) CALL(cudaEventCreateFromEGLSync, OTHER) \
  CALL(cudaEventCreateWithFlags, OTHER) CALL(cudaEventDestroy, OTHER) CALL(cudaEventElapsedTime, OTHER) \
  CALL(cudaEventQuery, POLL) CALL(cudaEventRecord, RECORD) CALL(cudaEventRecordWithFlags, RECORD) \
  CALL(cudaEventSynchronize, BLOCKING) CALL(cudaExternalMemoryGetMappedBuffer, INTEROP) \
  CALL(cudaExternalMemoryGetMappedMipmappedArray, INTEROP) CALL(cudaFree, FREE) CALL(cudaFreeArray, FREE) \
  CALL(cudaFreeAsync, FREE) CALL(cudaFreeHost, FREE) CALL(cudaFreeMipmappedArray, FREE) \
  CALL(cudaFuncGetAttributes, MODULE) CALL(cudaFuncGetName, MODULE) CALL(cudaFuncGetParamInfo, MODULE) \
  CALL(cudaFuncSetAttribute, OTHER) CALL(cudaFuncSetCacheConfig, OTHER) CALL(cudaFuncSetSharedMemConfig, OTHER) \
  CALL(cudaGLGetDevices, INTEROP) CALL(cudaGLMapBufferObject, INTEROP) CALL(cudaGLMapBufferObjectAsync, INTEROP) \
  CALL(cudaGLRegisterBufferObject, INTEROP) CALL(cudaGLSetBufferObjectMapFlags, INTEROP) \
  CALL(cudaGLSetGLDevice, INTEROP) CALL(cudaGLUnmapBufferObject, INTEROP) CALL(cudaGLUnmapBufferObjectAsync, INTEROP) \
  CALL(cudaGLUnregisterBufferObject, INTEROP) CALL(cudaGetChannelDesc, OTHER) CALL(cudaGetDevice, OTHER) \
  CALL(cudaGetDeviceCount, OTHER) CALL(cudaGetDeviceFlags, OTHER) CALL(cudaGetDeviceProperties, OTHER) \
  CALL(cudaGetDriverEntryPoint, OTHER) CALL(cudaGetDriverEntryPointByVersion, OTHER) CALL(cudaGetErrorName, OTHER) \
  CALL(cudaGetErrorString, OTHER) CALL(cudaGetExportTable, OTHER) CALL(cudaGetFuncBySymbol, MODULE) \
  CALL(cudaGetKernel, MODULE) CALL(cudaGetLastError, OTHER) CALL(cudaGetMipmappedArrayLevel, OTHER) \
  CALL(cudaGetProcAddress, OTHER) CALL(cudaGetSurfaceObjectResourceDesc, OTHER) CALL(cudaGetSurfaceReference, OTHER) \
  CALL(cudaGetSymbolAddress, OTHER) CALL(cudaGetSymbolSize, OTHER) CALL(cudaGetTextureAlignmentOffset, OTHER) \
  CALL(cudaGetTextureObjectResourceDesc, OTHER) CALL(cudaGetTextureObjectResourceViewDesc, OTHER) \
  CALL(cudaGetTextureObjectTextureDesc, OTHER) CALL(cudaGetTextureReference, OTHER) \
  CALL(cudaGraphAddChildGraphNode, GRAPH) CALL(cudaGraphAddDependencies, GRAPH) CALL(cudaGraphAddEmptyNode, GRAPH) \
  CALL(cudaGraphAddEventRecordNode, GRAPH) CALL(cudaGraphAddEventWaitNode, GRAPH) \
  CALL(cudaGraphAddExternalSemaphoresSignalNode, GRAPH) CALL(cudaGraphAddExternalSemaphoresWaitNode, GRAPH) \
  CALL(cudaGraphAddHostNode, GRAPH) CALL(cudaGraphAddKernelNode, GRAPH) CALL(cudaGraphAddMemAllocNode, GRAPH) \
  CALL(cudaGraphAddMemFreeNode, GRAPH) CALL(cudaGraphAddMemcpyNode, GRAPH) CALL(cudaGraphAddMemcpyNode1D, GRAPH) \
  CALL(cudaGraphAddMemcpyNodeFromSymbol, GRAPH) CALL(cudaGraphAddMemcpyNodeToSymbol, GRAPH) \
  CALL(cudaGraphAddMemsetNode, GRAPH) CALL(cudaGraphAddNode, GRAPH) CALL(cudaGraphChildGraphNodeGetGraph, GRAPH) \
  CALL(cudaGraphClone, GRAPH) CALL(cudaGraphConditionalHandleCreate, GRAPH) CALL(cudaGraphCreate, GRAPH) \
  CALL(cudaGraphDebugDotPrint, GRAPH) CALL(cudaGraphDestroy, GRAPH) CALL(cudaGraphDestroyNode, GRAPH) \
  CALL(cudaGraphEventRecordNodeGetEvent, GRAPH) CALL(cudaGraphEventRecordNodeSetEvent, GRAPH) \
  CALL(cudaGraphEventWaitNodeGetEvent, GRAPH) CALL(cudaGraphEventWaitNodeSetEvent, GRAPH) \
  CALL(cudaGraphExecChildGraphNodeSetParams, GRAPH) CALL(cudaGraphExecDestroy, GRAPH) \
  CALL(cudaGraphExecEventRecordNodeSetEvent, GRAPH) CALL(cudaGraphExecEventWaitNodeSetEvent, GRAPH) \
  CALL(cudaGraphExecExternalSemaphoresSignalNodeSetParams, GRAPH) \
  CALL(cudaGraphExecExternalSemaphoresWaitNodeSetParams, GRAPH) CALL(cudaGraphExecGetFlags, GRAPH) \
  CALL(cudaGraphExecHostNodeSetParams, GRAPH) CALL(cudaGraphExecKernelNodeSetParams, GRAPH) \
  CALL(cudaGraphExecMemcpyNodeSetParams, GRAPH) CALL(cudaGraphExecMemcpyNodeSetParams1D, GRAPH) \
  CALL(cudaGraphExecMemcpyNodeSetParamsFromSymbol, GRAPH) CALL(cudaGraphExecMemcpyNodeSetParamsToSymbol, GRAPH) \
  CALL(cudaGraphExecMemsetNodeSetParams, GRAPH) CALL(cudaGraphExecNodeSetParams, GRAPH) \
  CALL(cudaGraphExecUpdate, GRAPH) CALL(cudaGraphExternalSemaphoresSignalNodeGetParams, GRAPH) \
  CALL(cudaGraphExternalSemaphoresSignalNodeSetParams, GRAPH) \
  CALL(cudaGraphExternalSemaphoresWaitNodeGetParams, GRAPH) CALL(cudaGraphExternalSemaphoresWaitNodeSetParams, GRAPH) \
  CALL(cudaGraphGetEdges, GRAPH) CALL(cudaGraphGetNodes, GRAPH) CALL(cudaGraphGetRootNodes, GRAPH) \
  CALL(cudaGraphHostNodeGetParams, GRAPH) CALL(cudaGraphHostNodeSetParams, GRAPH) CALL(cudaGraphInstantiate, GRAPH) \
  CALL(cudaGraphInstantiateWithFlags, GRAPH) CALL(cudaGraphInstantiateWithParams, GRAPH) \
  CALL(cudaGraphKernelNodeCopyAttributes, GRAPH) CALL(cudaGraphKernelNodeGetAttribute, GRAPH) \
  CALL(cudaGraphKernelNodeGetParams, GRAPH) CALL(cudaGraphKernelNodeSetAttribute, GRAPH) \
  CALL(cudaGraphKernelNodeSetParams, GRAPH) CALL(cudaGraphLaunch, GRAPH_LAUNCH) \
  CALL(cudaGraphMemAllocNodeGetParams, GRAPH) CALL(cudaGraphMemFreeNodeGetParams, GRAPH) \
  CALL(cudaGraphMemcpyNodeGetParams, GRAPH) CALL(cudaGraphMemcpyNodeSetParams, GRAPH) \
  CALL(cudaGraphMemcpyNodeSetParams1D, GRAPH) CALL(cudaGraphMemcpyNodeSetParamsFromSymbol, GRAPH) \
  CALL(cudaGraphMemcpyNodeSetParamsToSymbol, GRAPH) CALL(cudaGraphMemsetNodeGetParams, GRAPH) \
  CALL(cudaGraphMemsetNodeSetParams, GRAPH) CALL(cudaGraphNodeFindInClone, GRAPH) \
  CALL(cudaGraphNodeGetDependencies, GRAPH) CALL(cudaGraphNodeGetDependentNodes, GRAPH) \
  CALL(cudaGraphNodeGetEnabled, GRAPH) CALL(cudaGraphNodeGetType, GRAPH) CALL(cudaGraphNodeSetEnabled, GRAPH) \
  CALL(cudaGraphNodeSetParams, GRAPH) CALL(cudaGraphReleaseUserObject, GRAPH) CALL(cudaGraphRemoveDependencies, GRAPH) \
  CALL(cudaGraphRetainUserObject, GRAPH) CALL(cudaGraphUpload, GRAPH) CALL(cudaGraphicsD3D10RegisterResource, INTEROP) \
  CALL(cudaGraphicsD3D11RegisterResource, INTEROP) CALL(cudaGraphicsD3D9RegisterResource, INTEROP) \
  CALL(cudaGraphicsEGLRegisterImage, INTEROP) CALL(cudaGraphicsGLRegisterBuffer, INTEROP) \
  CALL(cudaGraphicsGLRegisterImage, INTEROP) CALL(cudaGraphicsMapResources, INTEROP) \
  CALL(cudaGraphicsResourceGetMappedEglFrame, INTEROP) CALL(cudaGraphicsResourceGetMappedMipmappedArray, INTEROP) \
  CALL(cudaGraphicsResourceGetMappedPointer, INTEROP) CALL(cudaGraphicsResourceSetMapFlags, INTEROP) \
  CALL(cudaGraphicsSubResourceGetMappedArray, INTEROP) CALL(cudaGraphicsUnmapResources, INTEROP) \
  CALL(cudaGraphicsUnregisterResource, INTEROP) CALL(cudaGraphicsVDPAURegisterOutputSurface, INTEROP) \
  CALL(cudaGraphicsVDPAURegisterVideoSurface, INTEROP) CALL(cudaHostAlloc, ALLOCATION) \
  CALL(cudaHostGetDevicePointer, OTHER) CALL(cudaHostGetFlags, OTHER) CALL(cudaHostRegister, ALLOCATION) \
  CALL(cudaHostUnregister, ALLOCATION) CALL(cudaImportExternalMemory, INTEROP) \
  CALL(cudaImportExternalSemaphore, INTEROP) CALL(cudaInitDevice, OTHER) CALL(cudaInitModule, MODULE) \
  CALL(cudaIpcCloseMemHandle, ADDRESS) CALL(cudaIpcGetEventHandle, OTHER) CALL(cudaIpcGetMemHandle, OTHER) \
  CALL(cudaIpcOpenEventHandle, OTHER) CALL(cudaIpcOpenMemHandle, ADDRESS) CALL(cudaKernelSetAttributeForDevice, OTHER) \
  CALL(cudaLaunch, LAUNCH) CALL(cudaLaunchCooperativeKernel, LAUNCH) \
  CALL(cudaLaunchCooperativeKernelMultiDevice, LAUNCH) CALL(cudaLaunchHostFunc, HOST_FUNCTION) \
  CALL(cudaLaunchKernel, LAUNCH) CALL(cudaLaunchKernelExC, LAUNCH) CALL(cudaLibraryEnumerateKernels, MODULE) \
  CALL(cudaLibraryGetGlobal, LOADING) CALL(cudaLibraryGetKernel, LOADING) CALL(cudaLibraryGetKernelCount, LOADING) \
  CALL(cudaLibraryGetManaged, LOADING) CALL(cudaLibraryGetUnifiedFunction, LOADING) CALL(cudaLibraryLoadData, LOADING) \
  CALL(cudaLibraryLoadFromFile, LOADING) CALL(cudaLibraryUnload, MODULE) CALL(cudaLogsCurrent, OTHER) \
  CALL(cudaLogsDumpToFile, OTHER) CALL(cudaLogsDumpToMemory, OTHER) CALL(cudaLogsRegisterCallback, OTHER) \
  CALL(cudaLogsUnregisterCallback, OTHER) CALL(cudaMalloc, ALLOCATION) CALL(cudaMalloc3D, ALLOCATION) \
  CALL(cudaMalloc3DArray, ALLOCATION) CALL(cudaMallocArray, ALLOCATION) CALL(cudaMallocAsync, ALLOCATION) \
  CALL(cudaMallocFromPoolAsync, ALLOCATION) CALL(cudaMallocHost, ALLOCATION) CALL(cudaMallocManaged, ALLOCATION) \
  CALL(cudaMallocMipmappedArray, ALLOCATION) CALL(cudaMallocPitch, ALLOCATION) CALL(cudaMemAdvise, OTHER) \
  CALL(cudaMemDiscardAndPrefetchBatchAsync, COPY) CALL(cudaMemDiscardBatchAsync, COPY) \
  CALL(cudaMemGetDefaultMemPool, OTHER) CALL(cudaMemGetInfo, OTHER) CALL(cudaMemGetMemPool, OTHER) \
  CALL(cudaMemPoolCreate, ADDRESS) CALL(cudaMemPoolDestroy, ADDRESS) CALL(cudaMemPoolExportPointer, ADDRESS) \
  CALL(cudaMemPoolExportToShareableHandle, ADDRESS) CALL(cudaMemPoolGetAccess, OTHER) \
  CALL(cudaMemPoolGetAttribute, OTHER) CALL(cudaMemPoolImportFromShareableHandle, ADDRESS) \
  CALL(cudaMemPoolImportPointer, ADDRESS) CALL(cudaMemPoolSetAccess, OTHER) CALL(cudaMemPoolSetAttribute, OTHER) \
  CALL(cudaMemPoolTrimTo, ADDRESS) CALL(cudaMemPrefetchAsync, COPY) CALL(cudaMemPrefetchBatchAsync, COPY) \
  CALL(cudaMemRangeGetAttribute, OTHER) CALL(cudaMemRangeGetAttributes, OTHER) CALL(cudaMemSetMemPool, OTHER) \
  CALL(cudaMemcpy, BLOCKING_COPY) CALL(cudaMemcpy2D, BLOCKING_COPY) CALL(cudaMemcpy2DArrayToArray, BLOCKING_COPY) \
  CALL(cudaMemcpy2DAsync, COPY) CALL(cudaMemcpy2DFromArray, BLOCKING_COPY) CALL(cudaMemcpy2DFromArrayAsync, COPY) \
  CALL(cudaMemcpy2DToArray, BLOCKING_COPY) CALL(cudaMemcpy2DToArrayAsync, COPY) CALL(cudaMemcpy3D, BLOCKING_COPY) \
  CALL(cudaMemcpy3DAsync, COPY) CALL(cudaMemcpy3DBatchAsync, COPY) CALL(cudaMemcpy3DPeer, BLOCKING_COPY) \
  CALL(cudaMemcpy3DPeerAsync, COPY) CALL(cudaMemcpyArrayToArray, BLOCKING_COPY) CALL(cudaMemcpyAsync, COPY) \
  CALL(cudaMemcpyBatchAsync, COPY) CALL(cudaMemcpyFromArray, BLOCKING_COPY) CALL(cudaMemcpyFromArrayAsync, COPY) \
  CALL(cudaMemcpyFromSymbol, BLOCKING_COPY) CALL(cudaMemcpyFromSymbolAsync, COPY) CALL(cudaMemcpyPeer, BLOCKING_COPY) \
  CALL(cudaMemcpyPeerAsync, COPY) CALL(cudaMemcpyToArray, BLOCKING_COPY) CALL(cudaMemcpyToArrayAsync, COPY) \
  CALL(cudaMemcpyToSymbol, BLOCKING_COPY) CALL(cudaMemcpyToSymbolAsync, COPY) CALL(cudaMemset, BLOCKING_COPY) \
  CALL(cudaMemset2D, BLOCKING_COPY) CALL(cudaMemset2DAsync, COPY) CALL(cudaMemset3D, BLOCKING_COPY) \
  CALL(cudaMemset3DAsync, COPY) CALL(cudaMemsetAsync, COPY) CALL(cudaMipmappedArrayGetMemoryRequirements, OTHER) \
  CALL(cudaMipmappedArrayGetSparseProperties, OTHER) CALL(cudaOccupancyAvailableDynamicSMemPerBlock, OTHER) \
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, OTHER) \
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, OTHER) CALL(cudaOccupancyMaxActiveClusters, OTHER) \
  CALL(cudaOccupancyMaxPotentialClusterSize, OTHER) CALL(cudaPeekAtLastError, OTHER) \
  CALL(cudaPeerGetDevicePointer, OTHER) CALL(cudaPeerRegister, OTHER) CALL(cudaPeerUnregister, OTHER) \
  CALL(cudaPointerGetAttributes, OTHER) CALL(cudaPopCallConfiguration, OTHER) CALL(cudaProfilerInitialize, OTHER) \
  CALL(cudaProfilerStart, OTHER) CALL(cudaProfilerStop, OTHER) CALL(cudaPushCallConfiguration, OTHER) \
  CALL(cudaRegisterFatBinary, MODULE) CALL(cudaRegisterFatBinaryEnd, MODULE) CALL(cudaRegisterFunction, OTHER) \
  CALL(cudaRegisterHostVar, OTHER) CALL(cudaRegisterManagedVar, OTHER) CALL(cudaRegisterUnifiedTable, OTHER) \
  CALL(cudaRegisterVar, OTHER) CALL(cudaRuntimeGetVersion, OTHER) CALL(cudaSetDevice, OTHER) \
  CALL(cudaSetDeviceFlags, OTHER) CALL(cudaSetDoubleForDevice, OTHER) CALL(cudaSetDoubleForHost, OTHER) \
  CALL(cudaSetValidDevices, OTHER) CALL(cudaSetupArgument, OTHER) CALL(cudaSignalExternalSemaphoresAsync, INTEROP) \
  CALL(cudaStreamAddCallback, HOST_FUNCTION) CALL(cudaStreamAttachMemAsync, OTHER) \
  CALL(cudaStreamBeginCapture, CAPTURE) CALL(cudaStreamBeginCaptureToGraph, CAPTURE) \
  CALL(cudaStreamCopyAttributes, OTHER) CALL(cudaStreamCreate, OTHER) CALL(cudaStreamCreateWithFlags, OTHER) \
  CALL(cudaStreamCreateWithPriority, OTHER) CALL(cudaStreamDestroy, OTHER) CALL(cudaStreamEndCapture, CAPTURE) \
  CALL(cudaStreamGetAttribute, OTHER) CALL(cudaStreamGetCaptureInfo, CAPTURE) CALL(cudaStreamGetDevice, OTHER) \
  CALL(cudaStreamGetFlags, OTHER) CALL(cudaStreamGetId, OTHER) CALL(cudaStreamGetPriority, OTHER) \
  CALL(cudaStreamIsCapturing, OTHER) CALL(cudaStreamQuery, POLL) CALL(cudaStreamSetAttribute, OTHER) \
  CALL(cudaStreamSetFlags, OTHER) CALL(cudaStreamSynchronize, BLOCKING) \
  CALL(cudaStreamUpdateCaptureDependencies, CAPTURE) CALL(cudaStreamWaitEvent, ORDERING) \
  CALL(cudaThreadExchangeStreamCaptureMode, CAPTURE) CALL(cudaThreadExit, OTHER) CALL(cudaThreadGetCacheConfig, OTHER) \
  CALL(cudaThreadGetLimit, OTHER) CALL(cudaThreadSetCacheConfig, OTHER) CALL(cudaThreadSetLimit, OTHER) \
  CALL(cudaThreadSynchronize, BLOCKING) CALL(cudaUnbindTexture, OTHER) CALL(cudaUnregisterFatBinary, MODULE) \
  CALL(cudaUserObjectCreate, OTHER) CALL(cudaUserObjectRelease, OTHER) CALL(cudaUserObjectRetain, OTHER) \
  CALL(cudaVDPAUGetDevice, INTEROP) CALL(cudaVDPAUSetVDPAUDevice, INTEROP) CALL(cudaWGLGetDevice, INTEROP) \
  CALL(cudaWaitExternalSemaphoresAsync, ORDERING)

// clang-format on
