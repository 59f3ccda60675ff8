export { namePartsOf } from './file-names.js';
export { MIRROR_DATA, Mirror, type MirrorOptions, type MirrorReport } from './mirror.js';
export { MirrorIndex } from './mirror-index.js';
export { BodyKeeper, MirrorWriter } from './mirror-writer.js';
