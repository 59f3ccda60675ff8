// The states of the reader of a stream of objects as a table.
import { type StateTable, to } from '../state-machine.js';

type StreamState = 'between' | 'object' | 'digit' | 'lost' | 'failed' | 'end line' | 'ended';
type StreamStep =
  | 'objects'
  | 'begin'
  | 'object'
  | 'section'
  | 'close'
  | 'digit'
  | 'text'
  | 'line'
  | 'defect'
  | 'refuse'
  | 'found'
  | 'resume'
  | 'end';

const DEFECT = 'a defect, or text that a strict reader refuses (SOIF-4.4, 8.9)';

/** The reader: an open section is no state, since objects are read alike in it. */
export const STREAM_STATES: StateTable<StreamState, StreamStep> = {
  between: {
    objects: to('between', 'objects in the layout of SOIF-2.2 that have arrived whole', 'the objects'),
    begin: to('object', 'another `@`'),
    close: to('between', '`}` (SOIF-8.9)', 'the section closes; a warning without one'),
    digit: to('digit', 'a digit at the start of a line, where an end line may stand (GATHERD-3.7)'),
    defect: to('lost', DEFECT, 'a warning'),
    refuse: to('failed', 'end of input in a section, for a strict reader', 'an error'),
    end: to('ended', 'end of input', 'a warning in a section'),
  },
  object: {
    object: to('between', '`}` LF after its attributes', 'the object'),
    section: to('between', '`@` word `{`, and then `@` or `}` (SOIF-8.9)', 'a section closes, and one opens'),
    defect: to('lost', DEFECT, 'a warning'),
  },
  digit: {
    line: to('end line', 'a status line', 'the line'),
    text: to('between', 'another line'),
    defect: to('lost', DEFECT, 'a warning'),
  },
  lost: {
    found: to(
      'between',
      'LF `@` (SOIF-4.5), an end line after `}`, or end of input',
      'number of bytes skipped',
    ),
    refuse: to('failed', 'at once, for a strict reader', 'an error instead of the warning'),
  },
  failed: { resume: to('lost', 'a reader that goes on after the error') },
  'end line': {},
  ended: {},
};
