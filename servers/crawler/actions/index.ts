export {
  type ActionCounts,
  ActionDirectory,
  type ActionSink,
  type ScheduleOptions,
} from './action-directory.js';
