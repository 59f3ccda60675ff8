// The table language is SGML's (section 7.2); HTML knows it by these names.
export {
  type ContentMapping,
  conditionalMapping,
  type ExtractionTable as HtmlTable,
  parseExtractionTable as parseHtmlTable,
  type TagMapping,
} from '../sgml/table.js';
