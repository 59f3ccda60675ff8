export {
  type ActionCounts,
  ActionDirectory,
  type ActionPosition,
  type ActionSink,
  type ScheduleOptions,
} from './action-directory.js';
