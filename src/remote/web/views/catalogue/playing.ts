import type { CatalogueView } from '../../../../simulator/commands/schemas/catalogue.js';
import { resource } from '../../resource.js';
import { together } from '../../ui/element.js';
import { rules } from '../faults/rules.js';
import { details } from '../lines/details.js';
import { type Entry, playedOn } from './entries.js';

/** Whether anything runs that may be of the catalogue: else nobody has to read all of it. */
const mayPlay = () => {
  const lines = [...(details.current.value?.values() ?? [])];
  const isOdd = lines.some(
    ({ manners, settings }) => Object.keys(manners).length > 0 || 'unsolicited' in settings,
  );
  return isOdd || ruleNames().some((name) => name.includes('.')) || undefined;
};

const pick = ({ catalogue }: CatalogueView) => catalogue;

/** All entries, for the view of the catalogue, and as far as they may play a part. */
export const entries = resource(() => '/catalogue', pick);
const played = resource(() => '/catalogue', pick, mayPlay);

/** Follows what plays a part. */
export const followPlayed = () => together(rules.follow(), played.follow());

export const ruleNames = () => rules.current.value?.map(({ name }) => name) ?? [];

/** The entries that play a part on a line. */
export function playedEntries(line: string): readonly Entry[] {
  const found = details.current.value?.get(line);
  return found && mayPlay() ? playedOn(found, played.current.value ?? [], ruleNames()) : [];
}
