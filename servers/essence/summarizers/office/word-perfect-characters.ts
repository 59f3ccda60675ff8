/**
 * WordPerfect's own character sets, as far as they hold letters and punctuation: a character is its number in one of them.
 * A blank stands for a sign that is none of these.
 */

/** Set 1 from number 23 on. */
const MULTINATIONAL =
  'ßĸjÁáÂâÄäÀàÅåÆæÇçÉéÊêËëÈèÍíÎîÏïÌìÑñÓóÔôÖöÒòÚúÛûÜüÙùŸÿÃãĐđØøÕõÝýÐðÞþĂăĀāĄąĆćČčĈĉĊċĎďĚěĖėĒēĘ' +
  'ęǴǵĞğǦǧĢģĜĝĠġĤĥĦħİiĪīĮįĨĩĲĳĴĵĶķĹĺĽľĻļĿŀŁłŃń ŉŇňŅņŐőŌōŒœŔŕŘřŖŗŚśŠšŞşŜŝŤťŢţŦŧŬŭŰűŪūŲųŮůŨũŴŵŶ' +
  'ŷŹźŽžŻżŊŋ              ỲỳĎďƠơƯưĔĕĬĭIıŎŏ';
/** Set 4, without the ornaments behind it. */
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

/** WordPerfect 6 writes the commonest letters beyond ASCII as one byte, 1 to 32. */
const SHORT = 'åÅæÆäÄáàâãÃçÇëéÉèêíñÑøØõÕöÖüÜúùß';

/** A character by its set and its number there; a blank for signs that are no text. */
export function wordPerfectCharacter(set: number, number: number): string {
  if (set === 0) return number > 32 && number < 127 ? String.fromCharCode(number) : ' ';
  const { first, characters } = SETS.get(set) ?? { first: 0, characters: [] };
  return characters[number - first] ?? ' ';
}

/** The letter of a byte from 1 to 32 in the text of WordPerfect 6. */
export function shortCharacter(byte: number): string {
  return SHORT[byte - 1] ?? '';
}
