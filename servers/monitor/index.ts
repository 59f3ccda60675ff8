export type { Figure, MonitoredServer } from './figures.js';
export { Monitor, type MonitorOptions } from './monitor.js';
