/**
 * Compares a ledger with the end of each scene: nothing was done twice, nothing promised is missing, nothing
 * is left behind. Pure.
 *
 * Owns: that comparison, for worlds made of `Deed`s. Does not own: which effects must remain after which end
 * (each `example.ts`).
 */

import type { Deed } from '../world/deeds.ts';
import type { Entry } from '../world/ledger.ts';
import type { Audit, Finding, Played } from './example.ts';

/** How many effects of each kind must remain; none of an unlisted kind. */
export type Standing = Readonly<Record<string, number>>;

/**
 * An entry belongs to a subject if it is about the subject, or its `about` begins with the subject and a
 * slash.
 * @param stands the effects that must remain after this end; undefined: nothing is claimed
 */
export function auditDeeds(
  deeds: readonly Deed[],
  entries: readonly Entry[],
  played: readonly Played[],
  stands: (one: Played & Required<Pick<Played, 'end'>>) => Standing | undefined,
): Audit {
  const findings = [
    ...deeds.flatMap((deed) => [...doubles(deed, entries, played), ...undoneTwice(deed, entries, played)]),
    ...entries
      .filter(({ kind }) => kind === 'misuse')
      .map(({ reference }) => other(`the key ${reference} was used for two requests that differ`)),
    ...entries.filter(({ kind }) => kind === 'breach').map((entry) => breach(deeds, entry, played)),
    ...played.flatMap((one) => {
      const { end, subject } = one;
      const expected = end === undefined ? undefined : stands({ ...one, end });
      return expected === undefined ? [] : mismatches(deeds, entries, subject, expected);
    }),
  ];
  return { ledger: deeds.map((deed) => inWords(deed, entries)).join(', '), findings };
}

const other = (text: string): Finding => ({ kind: 'other', text });

function breach(deeds: readonly Deed[], entry: Entry, played: readonly Played[]): Finding {
  const deed = deeds.find(({ service }) => service === entry.service);
  const text = `refused: ${entry.why ?? 'a breach'}`;
  return { kind: 'doubled', ...(deed === undefined ? {} : subjectOf(deed, entry, played)), text };
}

function doubles(deed: Deed, entries: readonly Entry[], played: readonly Played[]): Finding[] {
  return surplus(entries, deed.kind, ({ reference }) => reference).map((entry) => ({
    kind: 'doubled',
    ...subjectOf(deed, entry, played),
    text: `a second ${deed.kind} under ${entry.reference}`,
  }));
}

function undoneTwice(deed: Deed, entries: readonly Entry[], played: readonly Played[]): Finding[] {
  const { undo } = deed;
  if (undo === undefined) return [];
  return surplus(entries, undo.kind, ({ of }) => of).map((entry) => ({
    kind: 'doubled',
    ...subjectOf(deed, entry, played),
    text: `a second ${undo.kind} of ${entry.of}`,
  }));
}

/** All but the first of each group. */
function surplus(entries: readonly Entry[], wanted: string, groupOf: (entry: Entry) => unknown): Entry[] {
  const seen = new Set<unknown>();
  return entries.filter((entry) => {
    if (entry.kind !== wanted) return false;
    const isSecond = seen.has(groupOf(entry));
    seen.add(groupOf(entry));
    return isSecond;
  });
}

function mismatches(
  deeds: readonly Deed[],
  entries: readonly Entry[],
  subject: string,
  expected: Standing,
): Finding[] {
  return deeds.flatMap((deed) => {
    const own = standing(deed, entries).filter((entry) => isOf(subject, aboutOf(deed, entry))).length;
    const wanted = expected[deed.kind] ?? 0;
    if (own === wanted) return [];
    const kind = own < wanted ? 'lost' : wanted === 0 ? 'leftBehind' : 'doubled';
    return [{ kind, subject, text: `${own} of ${deed.kind} stand, and not ${wanted}` } as const];
  });
}

function standing(deed: Deed, entries: readonly Entry[]): readonly Entry[] {
  const undone = new Set(entries.filter(({ kind }) => kind === deed.undo?.kind).map(({ of }) => of));
  return entries.filter(({ kind, id }) => kind === deed.kind && !undone.has(id));
}

const aboutOf = (deed: Deed, entry: Entry | undefined): string =>
  String((entry as Readonly<Record<string, unknown>> | undefined)?.[deed.about] ?? '');

const isOf = (subject: string, about: string): boolean =>
  about === subject || about.startsWith(`${subject}/`);

function subjectOf(deed: Deed, entry: Entry | undefined, played: readonly Played[]): { subject?: string } {
  const found = played.find(({ subject }) => isOf(subject, aboutOf(deed, entry)));
  return found === undefined ? {} : { subject: found.subject };
}

function inWords(deed: Deed, entries: readonly Entry[]): string {
  const done = entries.filter(({ kind }) => kind === deed.kind).length;
  const stand = standing(deed, entries).length;
  const back = done === stand ? '' : `, ${done - stand} taken back`;
  return `${done} ${deed.kind}${done === 1 ? '' : 's'}${back}`;
}
