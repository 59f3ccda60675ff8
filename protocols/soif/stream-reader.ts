// Reads a stream of objects and the text between them. The decoders are built on it.
import { AT, CR, isDigit, isSpace, LF, SP } from '../ascii.js';
import { ProtocolError, StateError } from '../errors.js';
import { StateMachine } from '../state-machine.js';
import type { Defect, SoifWarning, Surroundings } from './attempt.js';
import { CLOSE_BRACE, MINUS } from './bytes.js';
import { foldMultiValues } from './combine.js';
import { ExactReader } from './exact-reader.js';
import type { SoifOutline } from './kept-attributes.js';
import { LayoutReader } from './layout-reader.js';
import { NameTable } from './names.js';
import type { SoifObject } from './object.js';
import type { DecoderLimits } from './options.js';
import { STREAM_STATES } from './states.js';
import { Window } from './window.js';

/** The three parts of an update stream (SOIF-8.1). */
export type SectionName = 'delete' | 'refresh' | 'update';

/** Receives the contents of a stream, in order. Offsets are bytes from the start of the stream. */
export interface StreamSink {
  /** The bytes from `start` to `end` are in `window` until the call returns. */
  object(object: SoifObject, start: number, end: number, exact: boolean, window: Window): void;
  /**
   * The next bytes of an object that is not held; `first`: they begin it. They are in `window` until the call
   * returns.
   */
  largeBytes(bytes: Uint8Array, offset: number, first: boolean): void;
  /** The object whose bytes were passed on. */
  large(outline: SoifOutline, start: number, end: number): void;
  /**
   * The bytes passed on are no object: the reader needs the last `back` bytes of the stream again, from
   * `offset` on.
   */
  rewind(offset: number, back: number): void;
  warning(warning: SoifWarning): void;
  section(section: SectionName, open: boolean, offset: number): void;
  endLine(line: string, code: number, offset: number): void;
}

/** A table of names of this size is dropped between two objects: the names of garbage do not repeat. */
const MAX_NAMES = 4096;
const MAX_NAME_TABLE_BYTES = 256 * 1024;

/** Bytes of the longest end line. */
const MAX_END_LINE_BYTES = 4096;

/**
 * Recovery from a malformed object begins inside it, so bytes are read again. An attacker can nest objects so
 * that they are read many times. When failures have cost more than this many bytes for each byte of the stream
 * (plus an allowance), recovery begins where the failure was found instead.
 */
const REREAD_FACTOR = 8;
const REREAD_ALLOWANCE = 65_536;

/**
 * Recovery from objects that are not held does not need more bytes again than this many times `maxObjectBytes`.
 */
const REWIND_FACTOR = 4;

/**
 * Reads a stream of objects (SOIF-1.3) and what may be between them: text (SOIF-4.1), section wrappers
 * (SOIF-8.9), an end line (GATHERD-3.7). It passes everything to a sink and keeps nothing.
 */
export class StreamReader {
  readonly #window: Window;
  readonly #exact: ExactReader;
  readonly #layout: LayoutReader;
  #names = new NameTable();

  readonly #machine = new StateMachine(STREAM_STATES, 'between');
  /** Offset of the next byte to read. */
  #position = 0;
  #final = false;
  #section: SectionName | undefined;
  /** Whether an end line could start at `position`. */
  #isLineStart = true;
  #error: ProtocolError | undefined;

  /**
   * While lost: the start of the skipped bytes, the start of the current line, whether the line before it was
   * `}`.
   */
  #skippedFrom = 0;
  #lineStartOffset = 0;
  #isAfterBrace = false;
  #rereadBytes = 0;

  /** Offset after the last byte that ever arrived: during a rewind it is ahead of the window. */
  #furthest = 0;
  /** While an object is not held: the end of the bytes that were passed on. */
  #passedOn = 0;
  /** Start of the bytes that the caller keeps for a rewind. */
  #keptFrom = 0;
  readonly #sink: StreamSink;
  readonly #limits: DecoderLimits;
  readonly #surroundings: Surroundings;

  constructor(sink: StreamSink, limits: DecoderLimits, surroundings: Surroundings) {
    this.#sink = sink;
    this.#limits = limits;
    this.#surroundings = surroundings;
    this.#window = new Window(limits.maxObjectBytes);
    this.#exact = new ExactReader(limits, surroundings.sections);
    this.#layout = new LayoutReader(limits, surroundings);
  }

  /** The error of strict mode; nothing more is read until {@link resume}. */
  get failure(): ProtocolError | undefined {
    return this.#error;
  }

  /** Whether the end line has been read. */
  get ended(): boolean {
    return this.#machine.state === 'end line';
  }

  /** The bytes after the end line. */
  get rest(): Uint8Array {
    return this.ended ? this.#window.view(this.#position, this.#window.end) : new Uint8Array(0);
  }

  push(chunk: Uint8Array): void {
    if (this.#final) throw new StateError('push after end');
    if (this.ended) throw new StateError('push after the end line: the bytes belong to the next stream');
    this.#window.append(chunk);
    this.#run();
  }

  /**
   * Passes over the rest of a value that is not held, if all bytes are read. Returns the offset of the next
   * byte to push.
   */
  skip(): number {
    const layout = this.#layout;
    const window = this.#window;
    const next = this.#machine.state === 'object' ? layout.skipValue() : undefined;
    if (next === undefined) {
      this.own();
      return window.end;
    }
    window.restart(next);
    this.#passedOn = next;
    return next;
  }

  /** The last chunk will be overwritten. */
  own(): void {
    this.#window.own();
  }

  end(): void {
    this.#final = true;
    this.#run();
  }

  /** After a failure: continues at the next plausible start of an object (SOIF-4.5). */
  resume(): void {
    if (this.#error === undefined) throw new StateError('resume without an error');
    this.#error = undefined;
    this.#machine.step('resume');
    this.#run();
  }

  #run(): void {
    while (this.#advance());
    if (this.#final && this.#machine.state === 'between') this.#finish();
    this.#furthest = Math.max(this.#furthest, this.#window.end);
    this.#window.release(this.#firstNeededOffset());
  }

  #finish(): void {
    const section = this.#section;
    this.#section = undefined;
    if (section !== undefined) {
      this.#skippedFrom = this.#position;
      const message = `the section "${section}" is not closed`;
      this.#report({ rule: 'SOIF-8.9', offset: this.#position, message });
    }
    if (this.#error === undefined) this.#machine.step('end');
  }

  /** Takes one step of the state machine; false when these bytes are used up. */
  #advance(): boolean {
    switch (this.#machine.state) {
      case 'between':
        return this.#readBetween();
      case 'object':
        return this.#readObject();
      case 'digit':
        return this.#readEndLine();
      case 'lost':
        return this.#searchNextStart();
      default:
        return false;
    }
  }

  /** Offset of the first byte that must stay in memory. */
  #firstNeededOffset(): number {
    if (this.#machine.state === 'object') return this.#layout.firstNeeded;
    // `}` CR of the current line is read again when its LF arrives
    if (this.#machine.state === 'lost' || this.#machine.state === 'failed')
      return Math.max(this.#lineStartOffset, this.#position - 2);
    return this.#position;
  }

  /** SOIF-1.3, 4.1: objects and the text between them. */
  #readBetween(): boolean {
    const window = this.#window;
    const exact = this.#exact;
    const { data, words, base, fill } = window;
    let i = this.#position - base;
    let isFirst = true;
    while (i < fill) {
      if (data[i] !== AT) {
        this.#position = base + i;
        if (!this.#readNonObject(data[i]!)) return this.#machine.state !== 'between';
        i = this.#position - base;
        continue;
      }
      if (this.#names.size > MAX_NAMES || this.#names.bytes > MAX_NAME_TABLE_BYTES)
        this.#names = new NameTable();
      const stop = exact.read(data, words, i, fill, this.#names);
      if (stop < 0) {
        this.#position = base + i;
        this.#layout.begin(this.#position);
        this.#machine.step('begin');
        return true;
      }
      // Once for all that follow each other: a step costs a tenth of a small object.
      if (isFirst) this.#machine.step('objects');
      isFirst = false;
      this.#isLineStart = true;
      this.#emit(exact.take(data, this.#names), base + i, base + stop, true);
      i = stop;
    }
    this.#position = base + i;
    return false;
  }

  #emit(object: SoifObject, start: number, end: number, exact: boolean): void {
    const folded = this.#limits.dialect === 'rdm' ? foldMultiValues(object) : object;
    this.#sink.object(folded, start, end, exact, this.#window);
  }

  /** Reads a byte between objects that is not `@`. False when the state has changed or reading stops. */
  #readNonObject(byte: number): boolean {
    const window = this.#window;
    if (!this.#surroundings.sections) {
      if (this.#limits.strict) return this.#reportStrayText();
      // SOIF-4.1: everything up to the next "@" is ignored
      const next = window.data.subarray(0, window.fill).indexOf(AT, this.#position - window.base);
      this.#position = next < 0 ? window.end : window.base + next;
      return true;
    }
    if (isSpace(byte)) {
      this.#isLineStart = byte === LF;
    } else if (byte === CLOSE_BRACE) {
      if (this.#section === undefined && !this.#reportStrayText()) return false;
      this.#machine.step('close');
      if (this.#section !== undefined) this.#sink.section(this.#section, false, this.#position);
      this.#section = undefined;
      this.#isLineStart = true;
    } else if (this.#surroundings.endLine && this.#isLineStart && isDigit(byte)) {
      this.#machine.step('digit');
      return false;
    } else {
      if (this.#limits.strict) return this.#reportStrayText();
      this.#isLineStart = false;
    }
    this.#position++;
    return true;
  }

  #reportStrayText(): boolean {
    const message = 'text between objects';
    if (this.#limits.strict)
      this.#fail({ rule: 'SOIF-2.2', offset: this.#position, message }, this.#position, this.#position);
    else
      this.#report({
        rule: 'SOIF-8.9',
        offset: this.#position,
        message: 'a closing brace without a section',
      });
    return !this.#limits.strict;
  }

  #readObject(): boolean {
    const layout = this.#layout;
    const window = this.#window;
    const progress = layout.advance(window, this.#names, this.#final);
    if (progress === 'more') {
      this.#passOnLarge();
      return false;
    }
    if (progress === 'defect') {
      this.#rereadBytes += layout.effort;
      const overBudget = this.#rereadBytes > REREAD_FACTOR * layout.position + REREAD_ALLOWANCE;
      if (layout.isLarge) this.#failLarge(overBudget);
      else this.#fail(layout.defect, layout.start, overBudget ? layout.position : layout.start + 1);
      return true;
    }
    if (layout.isLarge) this.#passOn(layout.position);
    this.#position = layout.position;
    this.#isLineStart = true;
    this.#machine.step(progress);
    if (progress === 'section') {
      this.#openSection(
        layout.sectionWord === 'delete' ? 'delete' : layout.sectionWord === 'refresh' ? 'refresh' : 'update',
      );
    } else {
      for (const warning of layout.warnings) this.#sink.warning(warning);
      if (layout.isLarge) this.#sink.large(layout.takeLarge(this.#names), layout.start, layout.position);
      else this.#emit(layout.take(window, this.#names), layout.start, layout.position, layout.exact);
    }
    return true;
  }

  /** Passes on the bytes of an incomplete object, once it is too large to be held. */
  #passOnLarge(): void {
    const layout = this.#layout;
    const window = this.#window;
    const limits = this.#limits;
    if (!layout.isLarge) {
      if (limits.dialect === 'rdm' || !layout.exceeds(limits.largeBytes, window)) return;
      if (!layout.release(window, this.#names)) return;
      this.#passedOn = layout.start;
      if (window.end > this.#furthest) this.#keptFrom = layout.start;
    }
    this.#passOn(window.end);
  }

  #passOn(end: number): void {
    const from = this.#passedOn;
    if (end <= from) return;
    this.#passedOn = end;
    this.#sink.largeBytes(this.#window.view(from, end), from, from === this.#layout.start);
  }

  /**
   * Recovery begins inside the object, whose bytes the caller passes again, unless that costs too much or the
   * input has ended.
   */
  #failLarge(overBudget: boolean): void {
    const layout = this.#layout;
    const window = this.#window;
    const limits = this.#limits;
    const isTooMuch = layout.position - this.#keptFrom > REWIND_FACTOR * limits.maxObjectBytes;
    if (overBudget || isTooMuch || limits.strict || this.#final) {
      this.#fail(layout.defect, layout.start, layout.position);
      return;
    }
    this.#passOn(window.end);
    const from = layout.start + 1;
    const back = window.end - from;
    this.#furthest = Math.max(this.#furthest, window.end);
    window.restart(from);
    this.#fail(layout.defect, layout.start, from);
    this.#sink.rewind(from, back);
  }

  /** SOIF-8.9, 8.2: sections in any order and number; one that is still open is closed by the next. */
  #openSection(section: SectionName): void {
    const offset = this.#layout.start;
    if (this.#section !== undefined) {
      const message = `the section "${this.#section}" is not closed before the next`;
      if (this.#limits.strict) {
        this.#fail({ rule: 'SOIF-8.9', offset, message }, offset, this.#position);
        return;
      }
      this.#report({ rule: 'SOIF-8.9', offset, message });
      this.#sink.section(this.#section, false, offset);
    }
    this.#section = section;
    this.#sink.section(section, true, offset);
  }

  /** GATHERD-3.7: at the start of a line between objects, after a digit. */
  #readEndLine(): boolean {
    const window = this.#window;
    const at = this.#position;
    const begins = this.#isEndLineAt(at);
    if (begins === 'more') return false;
    const found = begins ? window.data.subarray(0, window.fill).indexOf(LF, at + 5 - window.base) : -1;
    const stop = found < 0 ? window.end : window.base + found;
    if (begins && found < 0 && !this.#final && stop - at <= MAX_END_LINE_BYTES) return false;
    if (!begins || stop - at > MAX_END_LINE_BYTES) {
      this.#isLineStart = false;
      this.#machine.step('text');
      return true;
    }
    if (this.#section !== undefined || found < 0) {
      const message =
        found < 0
          ? 'the input ends in the end line'
          : `the section "${this.#section}" is not closed before the end line`;
      const defect: Defect = { rule: 'GATHERD-3.7', offset: at, message };
      if (this.#limits.strict) {
        this.#fail(defect, at, at + 1);
        return true;
      }
      this.#report(defect);
    }
    const line = Buffer.from(
      window.view(at, stop > at && window.byteAt(stop - 1) === CR ? stop - 1 : stop),
    ).toString('latin1');
    this.#section = undefined;
    this.#position = found < 0 ? stop : stop + 1;
    this.#machine.step('line');
    this.#sink.endLine(line, Number(line.slice(0, 3)), at);
    return true;
  }

  /** Whether the bytes at `offset` are `NNN -`. */
  #isEndLineAt(offset: number): boolean | 'more' {
    const window = this.#window;
    for (let k = 0; k < 5; k++) {
      if (offset + k >= window.end) return this.#final ? false : 'more';
      const byte = window.byteAt(offset + k);
      if (k < 3 ? !isDigit(byte) : byte !== (k === 3 ? SP : MINUS)) return false;
    }
    return true;
  }

  /**
   * SOIF-4.5: searches for the next LF `@`. When an end line is possible, also for one that follows a line `}`:
   * a malformed last object must not hide it, and a value must not forge it.
   */
  #searchNextStart(): boolean {
    const window = this.#window;
    const bytes = window.data.subarray(0, window.fill);
    for (;;) {
      if (this.#isLineStart) {
        if (this.#position < window.end && window.byteAt(this.#position) === AT) return this.#endSearch();
        if (this.#position >= window.end) return this.#final && this.#endSearch();
        const ends = this.#surroundings.endLine && this.#isAfterBrace && this.#isEndLineAt(this.#position);
        if (ends === 'more') return false;
        if (ends) return this.#endSearch();
        this.#lineStartOffset = this.#position;
        this.#isLineStart = false;
      }
      const index = bytes.indexOf(LF, this.#position - window.base);
      if (index < 0) {
        this.#position = window.end;
        return this.#final && this.#endSearch();
      }
      const length = window.base + index - this.#lineStartOffset;
      const braced = window.byteAt(this.#lineStartOffset) === CLOSE_BRACE;
      this.#isAfterBrace = braced && (length === 1 || (length === 2 && bytes[index - 1] === CR));
      this.#position = window.base + index + 1;
      this.#isLineStart = true;
    }
  }

  /** Ends the search, at an object, an end line or the end of the input. */
  #endSearch(): boolean {
    if (!this.#limits.strict) {
      const message = `${this.#position - this.#skippedFrom} bytes skipped`;
      this.#report({ rule: 'SOIF-4.5', offset: this.#skippedFrom, message });
    }
    this.#isLineStart = true;
    this.#machine.step('found');
    return true;
  }

  /** Drops the element that began at `start`; the search for the next object begins at `from`. */
  #fail(defect: Defect, start: number, from: number): void {
    this.#skippedFrom = start;
    this.#position = from;
    this.#lineStartOffset = from;
    this.#isLineStart = from > start && this.#window.byteAt(from - 1) === LF;
    this.#isAfterBrace = false;
    this.#machine.step('defect');
    this.#report(defect);
  }

  /** Lenient: a warning. Strict: the stream stops here until {@link resume}. */
  #report({ rule, offset, message }: Defect): void {
    if (!this.#limits.strict) {
      this.#sink.warning({ kind: 'warning', rule, offset, message });
      return;
    }
    this.#error = new ProtocolError(message, { protocol: 'soif', rule, offset });
    this.#machine.step('refuse');
  }
}
