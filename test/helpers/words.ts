/**
 * The words of a command line: words`run --once --data ${directory} ${options}`. A value is one word, or a part
 * of one, whatever is in it; an array is several words.
 */
export function words(
  strings: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string[] {
  const line = strings.reduce((text, next, i) => `${text}\0${i - 1}\0${next}`);
  return line
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const whole = values[Number(/^\0(\d+)\0$/.exec(word)?.[1] ?? -1)];
      if (typeof whole === 'object') return whole;
      return word.replaceAll(/\0(\d+)\0/g, (_, i) => String(values[Number(i)]));
    });
}
