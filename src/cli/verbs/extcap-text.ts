/*
 * The texts of the extcap protocol, in which Wireshark asks a program for interfaces, their link types and their
 * options (Wireshark Developer's Guide, 8.2). A sentence stands on a line: a word, then values in braces.
 */

/** What Wireshark has to know of a line. */
export interface ExtcapLine {
  readonly name: string;
  /** The path of its port, or address and port. */
  readonly place: string;
}

const PREFIX = 'modbus-sim-';

/** The name of a line's interface. It has no character that Wireshark or a shell could take for something else. */
export function interfaceName(line: string): string {
  return `${PREFIX}${encodeURIComponent(line).replaceAll(/[!'()*]/g, percent)}`;
}

/** The line that an interface is named after; undefined for an interface of somebody else. */
export function lineOfInterface(name: string): string | undefined {
  if (!name.startsWith(PREFIX)) return undefined;
  try {
    return decodeURIComponent(name.slice(PREFIX.length));
  } catch {
    return undefined;
  }
}

/** The answer to --extcap-interfaces. */
export function interfacesText(version: string, lines: readonly ExtcapLine[]): string {
  return [
    `extcap {version=${version}}{display=modbus-sim}`,
    ...lines.map(
      ({ name, place }) =>
        `interface {value=${interfaceName(name)}}{display=Modbus line ${plain(name)} (${plain(place)})}`,
    ),
  ].join('\n');
}

/** The answer to --extcap-dlts: raw IP. A capture itself says which link type each of its interfaces has. */
export const DLTS_TEXT = 'dlt {number=101}{name=RAW}{display=Raw IP}';

/** The answer to --extcap-config: what the user can choose. */
export function configText(url: string): string {
  return [
    `arg {number=0}{call=--url}{display=Simulator}{tooltip=Where its REST interface is}{type=string}{default=${plain(url)}}`,
    'arg {number=1}{call=--token}{display=Token}{tooltip=Of its REST interface, if that has one}{type=password}',
    'arg {number=2}{call=--form}{display=Frames}{type=selector}',
    'value {arg=2}{value=decoded}{display=Each as Modbus RTU in UDP, port 5020}{default=true}',
    'value {arg=2}{value=wire}{display=As they are on the wire}{default=false}',
  ].join('\n');
}

/** Braces would end a value. */
function plain(text: string): string {
  return text.replaceAll(/[{}]/g, '_');
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}
