export { isCheap } from './cost.js';
export { type CharRange, type EreNode, formatEre, MAX_PATTERN_LENGTH, parseEre } from './ere.js';
export { compileNode, compilePattern, type Pattern, type PatternOptions } from './pattern.js';
export { finiteLanguage, listSpellings, type Spelling } from './spelling.js';
export { compileUrlPattern, parseUrlEre } from './url-pattern.js';
