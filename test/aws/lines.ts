/** Captures the lines that a function writes to its log. */

export type Line = Record<string, unknown> & {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly [
      { readonly Dimensions: string[][]; readonly Metrics: { readonly Name: string }[] },
    ];
  };
};

/** The lines of `act` as CloudWatch Logs gets them: standard output and standard error. */
export async function linesOf(act: () => unknown): Promise<Line[]> {
  const written: string[] = [];
  const streams = [process.stdout, process.stderr];
  const writes = streams.map((stream) => stream.write.bind(stream));
  for (const stream of streams) stream.write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  try {
    await act();
  } finally {
    for (const [at, stream] of streams.entries()) stream.write = writes[at] as typeof stream.write;
  }
  return written
    .flatMap((text) => text.split('\n'))
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as Line);
}
