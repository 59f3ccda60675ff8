export {
  existingDirectories,
  findTypePrograms,
  installedPrograms,
  parseSgmlWrapper,
  type SgmlCommand,
  type TypePrograms,
} from './find.js';
export { type OwnModules, type ProgramLimits, type ProgramSettings, programLimits } from './limits.js';
export {
  explodeByModule,
  functionOf,
  isModule,
  type OwnDocument,
  type OwnObject,
  type OwnSummary,
  type SummarizerModule,
  summarizeByModule,
  type UnnesterModule,
} from './modules.js';
export {
  explodeByProgram,
  type ProgramDocument,
  readAttributeList,
  ScratchDirectory,
  safeName,
  summarizeByProgram,
} from './programs.js';
export { type ProgramCall, type ProgramResult, runProgram } from './run.js';
