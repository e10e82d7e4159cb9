/* Numbers in capture files, for readers and writers. */

/** The protocol numbers of an IP header (IANA). */
export const IP_PROTOCOL = { tcp: 6, udp: 17 } as const;

/** Flags of a TCP segment (RFC 9293, 3.1). */
export const TCP_FLAGS = { fin: 0x01, syn: 0x02, rst: 0x04, psh: 0x08, ack: 0x10 } as const;

/** The block types of pcapng. The section header has the same bytes in both byte orders. */
export const BLOCK = {
  sectionHeader: 0x0a0d0d0a,
  interfaceDescription: 1,
  packet: 2,
  simplePacket: 3,
  interfaceStatistics: 5,
  enhancedPacket: 6,
} as const;
