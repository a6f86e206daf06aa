/**
 * Video publishing: inspect an upload, encode its renditions side by side while an outside transcriber listens, ask an
 * editor, wait for the embargo, publish, tell the subscribers.
 *
 * Owns: the agents' contracts and the workflow. Does not own: how an agent does its work (`agents/`), or what it works on
 * (`library.ts`).
 *
 * The limits are short so that a recovery can be watched on a laptop.
 */

import { agent, exists, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', pickup: '5s', timeout: '30s', settle: '1s' } as const;
const PATIENCE = retry(3, { first: '500ms', max: '5s' });

const Text = z.string().check(z.minLength(1));
const Rendition = z.object({ height: z.int(), file: Text });
const Transcript = z.object({ language: Text, lines: z.int().check(z.nonnegative()) });

export const inspectUpload = agent('inspect-upload', {
  input: z.object({ upload: Text }),
  output: z.object({ seconds: z.number(), heights: z.array(z.int()) }),
  effect: 'idempotent', // it only reads
  undo: 'none',
  ...LIMITS,
});

/** Writes one file for each effect key, so an unknown outcome is simply tried again. */
export const encodeRendition = agent('encode-rendition', {
  input: z.object({ upload: Text, height: z.int() }),
  output: Rendition,
  effect: 'idempotent',
  maxNoProgress: '4s', // an encoder that sends heartbeats without advancing is caught as well
  ...LIMITS,
});

/** Hands the transcriber the token with which it answers; an order that is not needed any more is withdrawn. */
export const orderTranscript = agent('order-transcript', {
  input: z.object({ upload: Text, token: Text }),
  output: z.object({ order: Text }),
  effect: 'idempotent',
  ...LIMITS,
});

/** The catalogue publishes as often as it is asked, but can be asked what it has published. */
export const publishVideo = agent('publish-video', {
  input: z.object({ title: Text, language: Text, renditions: z.array(z.nullable(Rendition)) }),
  output: z.object({ page: Text }),
  effect: 'probed',
  ...LIMITS,
});

export const notifySubscribers = agent('notify-subscribers', {
  input: z.object({ title: Text, page: Text }),
  output: z.object({ mail: Text }),
  effect: 'idempotent',
  undo: 'none', // a mail cannot be unsent, so it comes last
  ...LIMITS,
});

/** A workflow of its own, which others may run as well. It is not exported: it is never started by itself. */
const transcribe = workflow('transcribe', { input: z.object({ upload: Text }), within: '2d' }, (w) => {
  const transcript = w.callback('transcript', { output: Transcript, within: '1d' });
  w.step('order', orderTranscript, { upload: w.input.upload, token: transcript.token });
  return { language: transcript.output.language };
});

const Upload = z.object({
  upload: Text,
  title: Text,
  publishAt: z.optional(z.iso.datetime({ offset: true })),
});
export type Upload = z.infer<typeof Upload>;

export const videoPublishing = workflow('video-publishing', { input: Upload, within: '14d' }, (w) => {
  const { upload, title, publishAt } = w.input;
  const inspect = w.step('inspect', inspectUpload, { upload }, { recovery: [PATIENCE] });
  const encode = w.map('encode', encodeRendition, inspect.output.heights, (height) => ({ upload, height }), {
    concurrency: 2, // as many encoders as there are licences
    tolerate: 1, // a video without one of its sizes is still a video
    recovery: [PATIENCE],
  });
  const spoken = w.child('transcribe', transcribe, { upload }, { after: [inspect] });
  const release = w.approval('release', { within: '5d', after: [encode, spoken] });
  const embargo = w.wait('embargo', { until: publishAt, when: exists(publishAt), after: [release] });
  const publish = w.step(
    'publish',
    publishVideo,
    { title, language: spoken.output.language, renditions: encode.output.items },
    { after: [embargo], recovery: [PATIENCE] },
  );
  const spread = w.wait('spread', { for: '5s', after: [publish] }); // until the page is there for everybody
  w.step('notify', notifySubscribers, { title, page: publish.output.page }, { after: [spread] });
  return { page: publish.output.page, by: release.output.by };
});
