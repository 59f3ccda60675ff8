export { findTypePrograms, parseSgmlWrapper, type SgmlCommand, type TypePrograms } from './find.js';
export { existingDirectories, installedPrograms } from './installed.js';
export { type ProgramLimits, type ProgramSettings, programLimits } from './limits.js';
export {
  explodeByProgram,
  type ProgramDocument,
  readAttributeList,
  summarizeByProgram,
} from './programs.js';
export { type ProgramCall, type ProgramResult, runProgram } from './run.js';
export { ScratchDirectory, safeName } from './scratch-directory.js';
