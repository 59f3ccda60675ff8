export { CrawlMap } from './crawl-map.js';
export { Diversions } from './diversions.js';
export { CrawlMapper, LinksMapper, type MapperOptions } from './map-processors.js';
