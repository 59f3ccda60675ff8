export { CrawlMap, Diversions, type MapperOptions } from './diversions.js';
