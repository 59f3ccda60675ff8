/** Texts of this project's own, with the character sets of eight bits in which their language was written. */
export const TEXTS: readonly (readonly [language: string, charsets: string, text: string])[] = [
  [
    'Russian',
    'koi8-r windows-1251 ibm866 iso-8859-5 x-mac-cyrillic ibm855',
    'Сборщик обходит серверы, читает документы и составляет их описания. Брокер хранит описания и отвечает на вопросы.',
  ],
  [
    'Ukrainian',
    'koi8-u windows-1251 iso-8859-5',
    'Збирач обходить сервери, читає документи й складає їхні описи. Її відповіді надходять швидше, ніж очікується.',
  ],
  [
    'Bulgarian',
    'windows-1251 iso-8859-5 ibm866',
    'Събирачът обхожда сървърите, чете документите и съставя техните описания, които после се търсят.',
  ],
  [
    'Serbian',
    'windows-1251 iso-8859-5',
    'Сакупљач обилази сервере, чита документе и саставља њихове описе који се касније претражују.',
  ],
  [
    'Greek',
    'iso-8859-7 ibm737',
    'Ο συλλέκτης επισκέπτεται τους διακομιστές, διαβάζει τα έγγραφα και γράφει τις περιλήψεις τους.',
  ],
  [
    'Polish',
    'iso-8859-2 windows-1250 ibm852',
    'Zbieracz odwiedza serwery, czyta dokumenty i układa ich streszczenia, które później można znaleźć dzięki pytaniom.',
  ],
  [
    'Czech',
    'iso-8859-2 windows-1250 ibm852 x-mac-ce',
    'Sběrač prochází servery, čte dokumenty a píše jejich přehledy, které se potom dají snadno vyhledat žádostí.',
  ],
  [
    'Hungarian',
    'iso-8859-2 windows-1250',
    'A gyűjtő végigjárja a kiszolgálókat, elolvassa a dokumentumokat, és összefoglalókat készít a későbbi keresésekhez.',
  ],
  [
    'German',
    'iso-8859-1 windows-1252 macintosh ibm850',
    'Der Sammler besucht die Server, liest die Dokumente und schreibt Auszüge; später können Leser danach fragen, außer für gelöschte.',
  ],
  [
    'French',
    'iso-8859-1 windows-1252 macintosh ibm850',
    'Le collecteur visite les serveurs, lit les documents et rédige des résumés ; les lecteurs interrogent le courtier dès que c’est prêt.'.replace(
      '’',
      "'",
    ),
  ],
  [
    'Turkish',
    'windows-1254 ibm857',
    'Toplayıcı sunucuları dolaşır, belgeleri okur ve özetlerini yazar; aracı bu özetleri saklar ve soruları yanıtlar, değişiklikler işlenir.',
  ],
  [
    'Lithuanian',
    'windows-1257 iso-8859-13',
    'Rinkėjas aplanko serverius, skaito dokumentus ir rašo jų santraukas, kurių vėliau ieško žmonės iš įvairių šalių.',
  ],
  [
    'Hebrew',
    'windows-1255 iso-8859-8',
    'האוסף מבקר בשרתים, קורא את המסמכים וכותב את תקציריהם לחיפוש מאוחר יותר.',
  ],
  [
    'Arabic',
    'windows-1256 iso-8859-6',
    'يزور الجامع الخوادم ويقرأ المستندات ويكتب ملخصاتها ثم يجيب الوسيط عن الأسئلة.',
  ],
  ['Thai', 'windows-874', 'ตัวรวบรวมเยี่ยมชมเซิร์ฟเวอร์ อ่านเอกสาร และเขียนบทสรุปเพื่อการค้นหาในภายหลัง'],
];
