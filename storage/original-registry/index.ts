export {
  type BrokerLocation,
  gathererIdsPath,
  locateBroker,
  objectFilePath,
  registryPath,
} from './broker-directory.js';
export { type CheckOptions, checkRegistry, type RegistrySummary } from './check.js';
export {
  copyAdminFiles,
  type ExportCounts,
  type ExportOptions,
  exportRegistry,
  readGathererIds,
  type TransferOptions,
} from './export-registry.js';
export { type ImportCounts, type ImportOptions, importRegistry } from './import-registry.js';
export { type OpenMode, type OpenRandomFile, openRandomFile, type RandomFile } from './random-access-file.js';
export {
  isCompressionDue,
  type LocatedRecord,
  RegistryFile,
  type RegistryFileOptions,
} from './registry-file.js';
export { type RepairOptions, type RepairSummary, repairRegistry } from './repair.js';
export type { RegistryProblem } from './scan.js';
