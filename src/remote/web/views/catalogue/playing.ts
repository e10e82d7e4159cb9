import type { CatalogueView } from '../../../../simulator/commands/schemas/catalogue.js';
import { resource } from '../../resource.js';
import { together } from '../../ui/element.js';
import { rules } from '../faults/rules.js';
import { details } from '../lines/details.js';
import { type Entry, playedOn } from './entries.js';

/** Whether anything is running that may come from the catalogue. Otherwise the catalogue need not be read. */
const mayPlay = () => {
  const lines = [...(details.current.value?.values() ?? [])];
  const isOdd = lines.some(
    ({ manners, settings }) => Object.keys(manners).length > 0 || 'unsolicited' in settings,
  );
  return isOdd || ruleNames().some((name) => name.includes('.')) || undefined;
};

const pick = ({ catalogue }: CatalogueView) => catalogue;

/** All entries, for the catalogue view and for showing which of them are in use. */
export const entries = resource(() => '/catalogue', pick);
const played = resource(() => '/catalogue', pick, mayPlay);

/** Follows which entries are in use. */
export const followPlayed = () => together(rules.follow(), played.follow());

export const ruleNames = () => rules.current.value?.map(({ name }) => name) ?? [];

/** The entries in use on a line. */
export function playedEntries(line: string): readonly Entry[] {
  const found = details.current.value?.get(line);
  return found && mayPlay() ? playedOn(found, played.current.value ?? [], ruleNames()) : [];
}
