// Validates objects as `cleandb` does (G-134).
import { isAttributeName, isTemplateType } from './names.js';
import type { SoifObject } from './object.js';
import { urlProblem } from './url-bytes.js';

/** The reason an object is not valid, with the rule that it breaks. */
export interface SoifProblem {
  readonly rule: string;
  readonly message: string;
}

const TIMES: readonly string[] = ['Update-Time', 'Last-Modification-Time', 'Refresh-Rate', 'Time-to-Live'];

/**
 * Validates an object as `cleandb` does (G-134): a type and names that an emitter may write (SOIF-2.8), a URL
 * (SOIF-2.9), times that are numbers (SOIF-6.1) or absent. Manual records need not have what a Broker requires
 * (SOIF-6.5).
 * @returns the first problem; `undefined` when the object is valid.
 */
export function problemOf(object: SoifObject): SoifProblem | undefined {
  if (!isTemplateType(object.type)) {
    return { rule: 'SOIF-2.8', message: `not a template type: ${JSON.stringify(object.type)}` };
  }
  const message = urlProblem(object.urlBytes, object.type);
  if (message !== undefined) return { rule: 'SOIF-2.9', message };
  for (let i = 0; i < object.size; i++) {
    const name = object.nameAt(i);
    if (!isAttributeName(name)) {
      return { rule: 'SOIF-2.8', message: `not an attribute name: ${JSON.stringify(name)}` };
    }
  }
  for (const name of TIMES) {
    if (object.has(name) && object.number(name) === undefined) {
      return { rule: 'SOIF-6.1', message: `${name} is not a number: ${JSON.stringify(object.text(name))}` };
    }
  }
  return undefined;
}

/** Whether `cleandb` keeps the object: {@link problemOf} finds nothing. */
export function isValid(object: SoifObject): boolean {
  return problemOf(object) === undefined;
}
