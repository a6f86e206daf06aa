/**
 * What AWS charges, as of a day and in one region.
 *
 * Owns: the prices. Does not own: the quantities (`estimate.ts` of a plan, `meter.ts` as counted).
 *
 * List prices without free tiers, taxes and discounts. AWS changes them, and other regions have others: a sum
 * is shown with the day and the region.
 */

export interface Prices {
  /** A date. */
  readonly asOf: string;
  readonly region: string;
  /** Where each was read. */
  readonly sources: readonly string[];
  /** The price of one, in US dollars. */
  readonly usd: Readonly<
    Record<
      | 'writeUnits'
      | 'readUnits'
      | 'sqsRequests'
      | 'lambdaRequests'
      | 'lambdaGbSeconds'
      | 'events'
      | 'apiRequests'
      | 'logGb'
      | 'bucketPuts'
      | 'bucketGets',
      number
    >
  >;
}

export const AWS_PRICES: Prices = {
  asOf: '2026-11-21',
  region: 'us-east-1',
  sources: [
    'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    'https://aws.amazon.com/sqs/pricing/',
    'https://aws.amazon.com/lambda/pricing/',
    'https://aws.amazon.com/eventbridge/pricing/',
    'https://aws.amazon.com/api-gateway/pricing/',
    'https://aws.amazon.com/cloudwatch/pricing/',
    'https://aws.amazon.com/s3/pricing/',
  ],
  usd: {
    writeUnits: 0.625e-6,
    readUnits: 0.125e-6,
    sqsRequests: 0.4e-6,
    lambdaRequests: 0.2e-6,
    // arm64, of which Steadfast's functions are.
    lambdaGbSeconds: 0.0000133334,
    events: 1.0e-6,
    apiRequests: 1.0e-6,
    logGb: 0.5,
    // S3 Standard.
    bucketPuts: 5e-6,
    bucketGets: 0.4e-6,
  },
};
