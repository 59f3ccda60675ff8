export { AllInOne, type AllInOneOptions, type CycleReport, type LogName } from './all-in-one.js';
export type { DocumentsServerOptions } from './documents-server.js';
export { DocumentsServer } from './documents-server.js';
export { FilesServer, type FilesServerOptions } from './files-server.js';
export { forgetMovedDocuments } from './forget-moved.js';
export { createDocument, type OwnDocument, packageFolder, readOwnDocuments } from './own-documents.js';
export { configFromRoots, type RootLimitOptions, type RootsResult } from './roots.js';
export { findTrials, type Trials } from './trials.js';
