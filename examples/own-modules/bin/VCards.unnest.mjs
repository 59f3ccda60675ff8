// Makes one object of each card in a file of cards, which does not become an object itself.

/** @type {import('harvest-kit/servers/essence').UnnesterModule['unnest']} */
export function* unnest(document) {
  for (const [, card] of document.text.matchAll(/^BEGIN:VCARD\r?\n(.*?)^END:VCARD/gms)) {
    const values = new Map([...card.matchAll(/^([A-Z-]+)[^:\r\n]*:(.*?)\r?$/gm)].map(([, name, value]) => [name, value]));
    yield {
      url: values.get('URL') ?? `mailto:${values.get('EMAIL')}`,
      attributes: [
        ['Title', values.get('FN') ?? 'A card'],
        ['Author', values.get('FN') ?? ''],
        ['Description', values.get('NOTE') ?? ''],
      ],
    };
  }
}
