import type { FastifyPluginCallback } from 'fastify';
import type { TrafficFileDefinition } from '../../document/configuration.js';
import type { LinkPart, LinkSide } from '../mqtt/part.js';
import type { ApiContext } from './desk.js';
import type { Routes } from './v1/route.js';

/** The keys of the configuration that begin something of an extension. */
export interface StartKeys {
  readonly trafficFile: TrafficFileDefinition | undefined;
}

/** What an extension does at the desk. It does nothing before it is asked or started. */
export interface ExtensionPart {
  /** Routes of `/api/v1`, by their tags in the document. */
  readonly routes?: Readonly<Partial<Record<'devices' | 'program' | 'traffic', Routes>>>;
  /** Routes of its own, by the path that all of them begin with. */
  readonly plugins?: Readonly<Record<`/${string}`, FastifyPluginCallback>>;
  /** Joins the link to the broker; undefined if it has nothing to do there. */
  joinLink?(link: LinkSide): LinkPart | undefined | Promise<LinkPart | undefined>;
  /** Starts what the configuration asks for. @returns why it can't, as a sentence; undefined if all is well */
  start?(keys: StartKeys): Promise<string | undefined>;
  stop?(): Promise<void>;
}

/** Makes what an extension does at a desk. */
export type AtDesk = (desk: ApiContext) => ExtensionPart;

/** Starts all parts, until one of them can't. @returns why it can't */
export async function startParts(
  parts: readonly ExtensionPart[],
  keys: StartKeys,
): Promise<string | undefined> {
  for (const part of parts) {
    const problem = await part.start?.(keys);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export async function stopParts(parts: readonly ExtensionPart[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop?.()));
}
