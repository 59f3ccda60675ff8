import { Help, type Option } from 'commander';

/** Returns the description of an option with its default, unless the default is "on", "off" or an empty list. */
export function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (?:true|false|\[\])\)$/, '');
}
