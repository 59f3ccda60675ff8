// The part of apg-js that the tests use; the package has no types.
declare module 'apg-js' {
  /** A node of a rule; the type is one of `apgLib.ids`. */
  export interface Opcode {
    readonly type: number;
    readonly children?: readonly number[];
    readonly index?: number;
    readonly min?: number;
    readonly max?: number;
    readonly string?: readonly number[];
  }
  export class apgApi {
    constructor(grammar: string);
    readonly errors: readonly { readonly line: number; readonly char: number; readonly msg: string }[];
    readonly rules: readonly {
      readonly name: string;
      readonly lower: string;
      readonly opcodes: readonly Opcode[];
    }[];
    generate(): void;
  }
  export const apgLib: {
    readonly ids: Readonly<Record<'ALT' | 'CAT' | 'REP' | 'RNM' | 'TRG' | 'TBS' | 'TLS', number>>;
  };
}
