export { Monitor, type MonitorOptions } from './monitor.js';
