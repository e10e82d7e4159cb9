/*
 * The texts of the extcap protocol, in which Wireshark asks a program for interfaces, their link types and
 * their options (Wireshark Developer's Guide, 8.2). Each line is a sentence: a word, then values in braces.
 */

/** A line, as it is described to Wireshark. */
export interface ExtcapLine {
  readonly name: string;
  /** Path of the serial port, or address and port of the socket. */
  readonly place: string;
}

const PREFIX = 'modbus-sim-';

/** The interface name of a line. It has no character with a meaning for Wireshark or a shell. */
export function interfaceName(line: string): string {
  return `${PREFIX}${encodeURIComponent(line).replaceAll(/[!'()*]/g, percent)}`;
}

/** The line of an interface; undefined if the interface is not one of ours. */
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

/** The answer to --extcap-dlts: raw IP. The capture itself states the link type of each of its interfaces. */
export const DLTS_TEXT = 'dlt {number=101}{name=RAW}{display=Raw IP}';

/** The answer to --extcap-config: the options of the user. */
export function configText(url: string): string {
  return [
    `arg {number=0}{call=--url}{display=Simulator}{tooltip=Where its REST interface is}{type=string}{default=${plain(url)}}`,
    'arg {number=1}{call=--token}{display=Token}{tooltip=Of its REST interface, if that has one}{type=password}',
    'arg {number=2}{call=--form}{display=Frames}{type=selector}',
    'value {arg=2}{value=decoded}{display=Each as Modbus RTU in UDP, port 5020}{default=true}',
    'value {arg=2}{value=wire}{display=As they are on the wire}{default=false}',
  ].join('\n');
}

/** A text without braces, which would end a value. */
function plain(text: string): string {
  return text.replaceAll(/[{}]/g, '_');
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}
