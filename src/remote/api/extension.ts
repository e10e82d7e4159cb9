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
export interface DeskPart {
  /** Routes of `/api/v1`, by their tags in the document. */
  readonly routes?: Readonly<Partial<Record<'program' | 'traffic', Routes>>>;
  /** Routes of its own, by the path that all of them begin with. */
  readonly plugins?: Readonly<Record<`/${string}`, FastifyPluginCallback>>;
  /** Joins the link to the broker; undefined if it has nothing to do there. */
  joinLink?(link: LinkSide): LinkPart | undefined | Promise<LinkPart | undefined>;
  /** Starts what the configuration asks for. @returns why it can't, as a sentence; undefined if all is well */
  start?(keys: StartKeys): Promise<string | undefined>;
  stop?(): Promise<void>;
}

/** An extension, as the desk knows it. */
export interface AtDesk {
  /** Loads what the extension does at the desk. */
  readonly atDesk?: (desk: ApiContext) => Promise<DeskPart>;
}

/** Loads what all extensions do at a desk, in their order. */
export async function partsAt(desk: ApiContext, extensions: readonly AtDesk[]): Promise<readonly DeskPart[]> {
  const parts = await Promise.all(extensions.map(({ atDesk }) => atDesk?.(desk)));
  return parts.filter((part) => part !== undefined);
}

/** Starts all parts, until one of them can't. @returns why it can't */
export async function startParts(parts: readonly DeskPart[], keys: StartKeys): Promise<string | undefined> {
  for (const part of parts) {
    const problem = await part.start?.(keys);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export async function stopParts(parts: readonly DeskPart[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop?.()));
}
