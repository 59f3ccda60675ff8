export { CrawlMap } from './crawl-map.js';
export { Diversions, type MapperOptions } from './diversions.js';
