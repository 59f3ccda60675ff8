export { namePartsOf } from './file-names.js';
export { MIRROR_DATA, Mirror, type MirrorReport } from './mirror.js';
export { MirrorIndex } from './mirror-index.js';
