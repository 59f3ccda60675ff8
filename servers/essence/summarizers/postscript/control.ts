// PostScript operators of control, and those that read the program as a file. An image or an encrypted font in
// the program is skipped.
import { type OperatorBody, type Operators, type PsMachine, replacing } from './machine.js';
import {
  CELLS,
  objectOf,
  PsArray,
  PsDict,
  PsEnd,
  PsError,
  PsExit,
  PsFile,
  PsName,
  type PsObject,
  PsStop,
  PsString,
} from './objects.js';

/** Runs a loop's body until `exit`. */
function runLoop(machine: PsMachine, body: () => void): void {
  machine.protect(() => {
    try {
      body();
    } catch (error) {
      if (!(error instanceof PsExit)) throw error;
    }
  });
}

function forAll(machine: PsMachine): void {
  const body = machine.pop();
  const container = machine.pop();
  runLoop(machine, () => {
    if (container instanceof PsDict) {
      for (const [key, value] of container.entries) {
        machine.count();
        machine.push(objectOf(key), value);
        machine.execute(body);
      }
      return;
    }
    // By index: neither a copy, which nested loops would multiply, nor an iterator that sees changes.
    const items = container instanceof PsArray ? container.items : bytesOf(container);
    const { length } = items;
    for (let index = 0; index < length; index++) {
      machine.count();
      machine.push(items[index]!);
      machine.execute(body);
    }
  });
}

function bytesOf(object: PsObject): Uint8Array {
  if (object instanceof PsString) return object.bytes;
  throw new PsError('typecheck: forall');
}

function forLoop(machine: PsMachine): void {
  const body = machine.pop();
  const [from, step, to] = machine.numbers(3);
  runLoop(machine, () => {
    for (let i = from!; step! >= 0 ? i <= to! : i >= to!; i += step!) {
      machine.push(i);
      machine.execute(body);
      machine.count();
    }
  });
}

function loop(machine: PsMachine): void {
  const body = machine.pop();
  runLoop(machine, () => {
    for (;;) {
      machine.count();
      machine.execute(body);
    }
  });
}

function repeat(machine: PsMachine): void {
  const body = machine.pop();
  const times = machine.number();
  runLoop(machine, () => {
    for (let i = 0; i < times; i++) {
      machine.count();
      machine.execute(body);
    }
  });
}

function stopped(machine: PsMachine): void {
  const body = machine.pop();
  machine.protect(() => {
    try {
      machine.execute(body);
      machine.push(false);
    } catch (error) {
      if (!(error instanceof PsStop || error instanceof PsError)) throw error;
      machine.push(true);
    }
  });
}

/**
 * `currentfile eexec`: skips the encrypted part of a Type 1 font and defines the font on the stack in its
 * place.
 */
function eexec(machine: PsMachine): void {
  machine.pop();
  const font = machine.operands[machine.operands.length - 1];
  if (font instanceof PsDict) {
    const name = font.get('FontName');
    if (name instanceof PsName) machine.fonts.set(name.text, font);
    machine.pop();
  }
  machine.scanner.skipTo('cleartomark', true);
}

/** Reads from the program into a string, as far as it goes; pushes what was read, and a result. */
function reading(
  read: (machine: PsMachine, bytes: Uint8Array) => { readonly length: number; readonly result: boolean },
): OperatorBody {
  return (machine) => {
    const { bytes } = machine.string();
    if (!isProgram(machine.pop())) {
      machine.push(new PsString(new Uint8Array()), false);
      return;
    }
    const { length, result } = read(machine, bytes);
    machine.pushString(bytes.subarray(0, length));
    machine.push(result);
  };
}

const readString = reading(({ scanner }, bytes) => {
  scanner.skipSeparator();
  const data = scanner.readBytes(bytes.length);
  bytes.set(data);
  return { length: data.length, result: data.length === bytes.length };
});

const readHexString = reading(({ scanner }, bytes) => {
  let filled = 0;
  let high = -1;
  while (filled < bytes.length && !scanner.done) {
    const digit = Number.parseInt(String.fromCharCode(scanner.readBytes(1)[0]!), 16);
    if (Number.isNaN(digit)) continue;
    if (high < 0) high = digit;
    else {
      bytes[filled++] = high * 16 + digit;
      high = -1;
    }
  }
  return { length: filled, result: filled === bytes.length };
});

const readLine = reading(({ scanner }, bytes) => {
  const result = !scanner.done;
  const line = scanner.readLine().subarray(0, bytes.length);
  bytes.set(line);
  return { length: line.length, result };
});

/** A filter on the program: skips its data, which is not text, up to the filter's end marker. */
function filter(machine: PsMachine): void {
  const name = machine.key();
  if (machine.operands[machine.operands.length - 1] instanceof PsDict) machine.pop();
  const source = machine.pop();
  if (isProgram(source)) {
    if (name === '/ASCII85Decode') machine.scanner.skipTo('~>', true);
    else if (name === '/ASCIIHexDecode') machine.scanner.skipTo('>', true);
  }
  machine.push(new PsFile(false));
}

function isProgram(object: PsObject): boolean {
  return object instanceof PsFile && object.program;
}

/** `token` on a string: pushes the rest of the string, the token, and true; or false. */
function token(machine: PsMachine): void {
  const source = machine.pop();
  if (source instanceof PsString) {
    const scanner = machine.scan(source);
    try {
      const object = scanner.next();
      if (object === undefined) machine.push(false);
      else {
        machine.pushString(source.bytes.subarray(scanner.offset));
        machine.allocate(CELLS.string + scanner.offset / 8);
        machine.push(object, true);
      }
    } finally {
      machine.work(scanner.offset);
    }
    return;
  }
  const object = isProgram(source) ? machine.scanner.next() : undefined;
  if (object === undefined) machine.push(false);
  else machine.push(object, true);
}

/** Operators of control and files. */
export const CONTROL_OPERATORS: Operators = {
  exec: (m) => m.execute(m.pop()),
  if: (m) => {
    const body = m.pop();
    if (m.boolean()) m.execute(body);
  },
  ifelse: (m) => {
    const otherwise = m.pop();
    const body = m.pop();
    m.execute(m.boolean() ? body : otherwise);
  },
  for: forLoop,
  repeat,
  loop,
  forall: forAll,
  exit: () => {
    throw new PsExit();
  },
  stop: () => {
    throw new PsStop();
  },
  quit: () => {
    throw new PsEnd('');
  },
  stopped,
  countexecstack: (m) => m.push(0),
  currentfile: (m) => m.push(new PsFile(true)),
  readstring: readString,
  readhexstring: readHexString,
  readline: readLine,
  read: (m) => {
    const byte = isProgram(m.pop()) ? m.scanner.readBytes(1)[0] : undefined;
    if (byte === undefined) m.push(false);
    else m.push(byte, true);
  },
  filter,
  token,
  eexec,
  status: replacing(false),
};
