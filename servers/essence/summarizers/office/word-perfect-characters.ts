/**
 * WordPerfect's character sets with letters and punctuation; the index of a character is its number in the set.
 * Other symbols are blanks.
 */

/** Set 1, starting at number 23. */
const MULTINATIONAL =
  'ßĸjÁáÂâÄäÀàÅåÆæÇçÉéÊêËëÈèÍíÎîÏïÌìÑñÓóÔôÖöÒòÚúÛûÜüÙùŸÿÃãĐđØøÕõÝýÐðÞþĂăĀāĄąĆćČčĈĉĊċĎďĚěĖėĒēĘ' +
  'ęǴǵĞğǦǧĢģĜĝĠġĤĥĦħİiĪīĮįĨĩĲĳĴĵĶķĹĺĽľĻļĿŀŁłŃń ŉŇňŅņŐőŌōŒœŔŕŘřŖŗŚśŠšŞşŜŝŤťŢţŦŧŬŭŰűŪūŲųŮůŨũŴŵŶ' +
  'ŷŹźŽžŻżŊŋ              ỲỳĎďƠơƯưĔĕĬĭIıŎŏ';
/** Set 4, without the ornaments at its end. */
const TYPOGRAPHIC = '●○■•*¶§¡¿«»£¥₧ƒªº½¼¢²ⁿ®©¤¾³‛’‘‟”“–—‹›○□†‡™℠℞●◦■▪□▫‒ﬀﬃﬄﬁﬂ…$₣₢₠₤‚„⅓⅔⅛⅜⅝⅞ⓂⓅ€℅℆‰№—¹␉␌';
/** Set 8. */
const GREEK = 'ΑαΒβΒϐΓγΔδΕεΖζΗηΘθΙιΚκΛλΜμΝνΞξΟοΠπΡρΣσΣςΤτΥυΦφΧχΨψΩωΆάΈέΉήΊίΪϊΌόΎύΫϋΏώεϑϰ';
/** Set 10. */
const CYRILLIC =
  'АаБбВвГгДдЕеЁёЖжЗзИиЙйКкЛлМмНнОоПпРрСсТтУуФфХхЦцЧчШшЩщЪъЫыЬьЭэЮюЯяӘәЃѓҐґҒғЂђЄєЄєҖҗЅѕ  ИиІі' +
  'Її  ЈјЌќҚқӃӄҜҝЉљҢңЊњѺѻѠѡЋћЎўӮӯҮүҰұƔɣҲҳХхҺһѾѿЏџҶҷҸҹШшѢѣѦѧѪѫѮѯ';

const SETS: ReadonlyMap<number, { readonly first: number; readonly characters: readonly string[] }> = new Map(
  [
    [1, { first: 23, characters: [...MULTINATIONAL] }],
    [4, { first: 0, characters: [...TYPOGRAPHIC] }],
    [8, { first: 0, characters: [...GREEK] }],
    [10, { first: 0, characters: [...CYRILLIC] }],
  ],
);

/** The most frequent letters beyond ASCII, which WordPerfect 6 encodes as one byte, 1 to 32. */
const SHORT = 'åÅæÆäÄáàâãÃçÇëéÉèêíñÑøØõÕöÖüÜúùß';

/** Returns a character by its set and number; a blank for other symbols. */
export function wordPerfectCharacter(set: number, number: number): string {
  if (set === 0) return number > 32 && number < 127 ? String.fromCharCode(number) : ' ';
  const { first, characters } = SETS.get(set) ?? { first: 0, characters: [] };
  return characters[number - first] ?? ' ';
}

/** Returns the letter of a byte from 1 to 32 in the text of WordPerfect 6. */
export function shortCharacter(byte: number): string {
  return SHORT[byte - 1] ?? '';
}
