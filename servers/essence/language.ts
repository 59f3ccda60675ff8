/** Characters of a text that are examined. */
const WINDOW_CHARACTERS = 32 * 1024;
/** Minimum number of words of a text in Latin or Cyrillic letters. */
const MIN_WORDS = 12;
/**
 * Minimum share of a language's function words in a text of that language; running text has 15 to 40 percent.
 */
const MIN_SHARE = 0.06;
/** Minimum ratio of the best language's score to the next one's. */
const MIN_LEAD = 1.15;

/**
 * Function words of each language: articles, prepositions, pronouns, auxiliaries. A word of several languages
 * counts less.
 */
const FUNCTION_WORDS: Readonly<Record<string, string>> = {
  en: 'the of and to in is that it for was with as be by on not are this or from at have which an but they were their will can has been if when your you more would about there what some',
  de: 'der die das und ist nicht von zu mit den des ein eine sich auf für im dem auch es an werden aus er sie nach wird bei sind noch wie einer um am zum haben oder über kann wurde wenn als nur',
  fr: 'le la les des et est un une du que qui dans pour pas sur par au avec ce se il ne sont plus cette ou mais comme son aux être nous vous leur elle même fait ces ont été',
  es: 'el la los las de que y en un una por con para se del no es al lo como más su sus este esta pero son fue ha también entre cuando muy sin sobre hay ser todo puede',
  pt: 'o a os as de que e em um uma do da dos das no na não para com por se mais como ao foi ou seu sua são pelo pela mas também ser está quando muito nos já até isso',
  it: 'il lo la i gli le di che e un una in per non con del della dei delle si da al alla è sono come più anche nel nella ma questo questa ha o essere se suo dal stato loro può',
  nl: 'de het een van en in is dat op te zijn met voor niet aan er ook als door maar om bij uit naar wordt worden deze dit nog over kan heeft hij ze dan hebben zich tot wel meer',
  sv: 'och att det som en är av för på med den till inte ett om har de vi kan jag så men från var eller när också ska vara här sin hade blir vid efter utan där bara detta mycket',
  da: 'og at det er en af for på med den til ikke de som et har kan der var fra også vi eller han jeg så men skal blev blive efter hvor være hvis når sig over vil meget kun end',
  nb: 'og at det er en av for på med den til ikke de som et har kan fra også vi eller han jeg så men skal ble etter hvor være hvis når seg over vil mye bare enn blir dette ved',
  fi: 'ja on ei se että oli hän mutta ovat kun niin myös joka ole sen tai kuin jos mukaan sekä olla voi jotka vain nyt siitä sitä tämä hänen ollut joita kanssa ennen jälkeen mitä',
  pl: 'i w na z że się do nie jest to jak o po od przez dla za są tym ale czy jego oraz który która które może być tego już tylko był było także przy ten ma bardzo jej ich lub',
  cs: 'a v na se je že s z do to o i ve pro za by jsem jako ale po od jsou který která které aby tak jeho nebo už při byl být jen také není podle může bylo své jejich ze',
  sk: 'a v na sa je že s z do to o aj vo pre za by som ako ale po od sú ktorý ktorá ktoré aby tak jeho alebo už pri bol byť len tiež nie podľa môže bolo svoje ich zo',
  hu: 'a az és hogy nem is egy ez meg de van volt csak mint már még el ki ha vagy lehet kell után azt ezt minden fel nagyon itt majd most sem amely amit olyan szerint pedig',
  ro: 'și în de la a cu pe nu este că un o din pentru care mai se ca sau au fi prin dar sunt al lui ce ale acest această fost după poate lor când unei unui până doar foarte',
  tr: 've bir bu da de için ile olarak çok daha gibi olan ne ama kadar sonra en var her değil ki o göre ya ise veya yok tarafından olduğu önce iki bunu şey kendi diye',
  id: 'yang dan di dengan untuk pada dari ini itu tidak dalam akan adalah ke oleh sebagai juga atau telah bisa ada karena lebih mereka sudah kami saya dapat anda tersebut hanya seperti',
  vi: 'của và là các một có trong được cho không với những này người đã để khi từ về như đến tại ra vào sẽ nhiều cũng nhưng trên hơn phải theo năm đó bị',
  hr: 'i u je na se da su za od s kao koji koja koje o ne bi ili što to iz ali po može biti nije samo bio bila kako te nakon prema između također već kod ima sve',
  sl: 'in v je na se da so za od z kot ki o ne bi ali pa po lahko biti ni tudi samo bil bila kako iz pri še več ima vse med ter če njegov tako kar pred',
  et: 'ja on ei et see oma mis ka kui aga ning oli või nii kes ta selle välja ole seda siis üle pärast mida veel need tema olla juba kuid võib väga',
  lt: 'ir yra kad su tai iš į ne buvo kaip bet apie jo už po ar nuo taip tik per jau savo kai dar gali šis jei arba kuris kurie bei jų labai',
  lv: 'un ir ar par no uz kas ka lai tas nav bet arī vai kā pie pēc tā bija līdz ja savu jau var tikai kur šis būt tiek gan viņa ļoti',
  ca: 'el la els les de que i en un una per amb no és del al es com més seu seva aquest aquesta però són també entre quan molt sense sobre hi ha ser pot dels fins on',
  eo: 'la kaj de en estas ke ne al por kun el mi vi li ĝi estis kiel sed aŭ pri sur ili oni per tiu kiu kiuj ĉi nur pli tre povas devas sia',
  la: 'et in est non ad cum ut sed quod qui per ex ab si esse quae sunt hoc nec enim de autem atque eius quam aut vel etiam sic quia',
  ru: 'и в не на что с по как это к из за для от но у его так же или то бы все вы при только может было были быть если который которые она они мы он также чтобы',
  uk: 'і в не на що з та до як це за для від але у його так або те при тільки може було були бути якщо який які вона вони ми він також щоб із про є цього після',
  bg: 'и в на да се не за от са е по с като но при че или това което който които той тя те ще си може бъде беше след само има един една към до',
  sr: 'и у је на се да су за од са као који која које о не би или што то из али по може бити није само био била како те након према између већ код има све',
  mk: 'и во на да се не за од се е по со како но при дека или тоа што кој кои тој таа тие ќе си може биде беше само има еден една кон до',
  be: 'і ў не на што з да як гэта за для ад але у яго так або тое пры толькі можа было былі быць калі які якія яна яны мы ён таксама каб',
};

/** Scripts that one language uses exclusively or predominantly. */
const SCRIPTS: readonly (readonly [language: string, letters: RegExp])[] = [
  ['ko', /\p{Script=Hangul}/gu],
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['el', /\p{Script=Greek}/gu],
  ['he', /\p{Script=Hebrew}/gu],
  ['th', /\p{Script=Thai}/gu],
  ['hi', /\p{Script=Devanagari}/gu],
  ['bn', /\p{Script=Bengali}/gu],
  ['ta', /\p{Script=Tamil}/gu],
  ['te', /\p{Script=Telugu}/gu],
  ['ka', /\p{Script=Georgian}/gu],
  ['hy', /\p{Script=Armenian}/gu],
  ['ar', /\p{Script=Arabic}/gu],
];

/** Minimum share of the letters that are of a script in a text of its language. */
const SCRIPT_SHARE = 0.4;
/** Minimum share of kana in a Japanese text, which also uses Chinese characters. */
const KANA_SHARE = 0.1;
/** Minimum number of letters of a script. */
const MIN_LETTERS = 20;

/** The languages that use a word. */
const LANGUAGES_OF: ReadonlyMap<string, readonly string[]> = (() => {
  const languages = new Map<string, string[]>();
  for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
    for (const word of new Set(words.split(' '))) {
      languages.set(word, [...(languages.get(word) ?? []), language]);
    }
  }
  return languages;
})();

const MAX_WORD_LENGTH = Math.max(...Array.from(LANGUAGES_OF.keys(), ({ length }) => length));

/**
 * Guesses the language of a text (E-141) from its script and its function words.
 *
 * @returns an ISO 639-1 code; undefined if the text is too short or no language is clearly the best
 */
export function guessLanguage(text: string): string | undefined {
  const sample = text.length > WINDOW_CHARACTERS ? text.slice(0, WINDOW_CHARACTERS) : text;
  return languageByScript(sample) ?? languageByWords(sample.toLowerCase());
}

/** Attributes with a document's running text, the best first. */
const RUNNING_TEXT = ['full-text', 'body', 'partial-text', 'abstract', 'description'];

/** {@link guessLanguage} for an object (E-141): the result for its first running text that has one. */
export function languageOf(attributes: Iterable<readonly [name: string, value: string]>): string | undefined {
  const texts = new Map(Array.from(attributes, ([name, value]) => [name.toLowerCase(), value]));
  for (const name of RUNNING_TEXT) {
    const text = texts.get(name);
    const language = text === undefined ? undefined : guessLanguage(text);
    if (language !== undefined) return language;
  }
  return undefined;
}

/** A letter of none of the scripts that languages are told apart by their words in: Latin and Cyrillic. */
const OTHER_SCRIPT = /[\u0370-\u03ff\u0530-\u1dff\u1f00-\u1fff\u2c60-\u2dff\u2e80-\ufaff\ufb13-\ufeff]/;

function languageByScript(sample: string): string | undefined {
  if (!OTHER_SCRIPT.test(sample)) return undefined;
  const letters = count(sample, /\p{L}/gu);
  if (letters < MIN_LETTERS) return undefined;
  for (const [language, expression] of SCRIPTS) {
    const share = count(sample, expression) / letters;
    if (share < (language === 'ja' ? KANA_SHARE : SCRIPT_SHARE)) continue;
    // Persian and Urdu have additional letters.
    if (language === 'ar' && /[ٹڈڑےں]/.test(sample)) return 'ur';
    if (language === 'ar' && /[پچژگ]/.test(sample)) return 'fa';
    return language;
  }
  return count(sample, /\p{Script=Han}/gu) / letters >= SCRIPT_SHARE ? 'zh' : undefined;
}

function languageByWords(sample: string): string | undefined {
  const scores = new Map<string, number>();
  let words = 0;
  for (let start = 0; start < sample.length; start++) {
    if (!isLetter(sample.charCodeAt(start))) continue;
    let end = start + 1;
    while (end < sample.length && isLetter(sample.charCodeAt(end))) end++;
    words++;
    // No function word is longer.
    const languages = end - start > MAX_WORD_LENGTH ? undefined : LANGUAGES_OF.get(sample.slice(start, end));
    for (const language of languages ?? [])
      scores.set(language, (scores.get(language) ?? 0) + 1 / Math.sqrt(languages?.length ?? 1));
    start = end;
  }
  if (words < MIN_WORDS) return undefined;
  const [best, next] = [...scores].sort(([, a], [, b]) => b - a);
  if (best === undefined || best[1] / words < MIN_SHARE) return undefined;
  return next === undefined || best[1] >= next[1] * MIN_LEAD ? best[0] : undefined;
}

/**
 * Whether each UTF-16 code unit is a letter: 0 unknown, 1 no, 2 yes. An expression for each character would
 * take longer than all else.
 */
const LETTERS = new Uint8Array(0x10000);

function isLetter(unit: number): boolean {
  let known = LETTERS[unit];
  if (known === 0) {
    known = /\p{L}/u.test(String.fromCharCode(unit)) ? 2 : 1;
    LETTERS[unit] = known;
  }
  return known === 2;
}

function count(text: string, expression: RegExp): number {
  return text.match(expression)?.length ?? 0;
}
