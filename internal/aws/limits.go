package aws

import "time"

// Every time and bound of the reads, with its reason.
const (
	// readBudget is how long a run waits for AWS in all. Crossplane runs the pipeline of many XRs with few workers, so
	// a run that waits holds up others; the last known state is as good an answer a moment later.
	readBudget = 5 * time.Second

	// gatherTime is how long a batch waits for more pools. It is far below the time that a call takes, so nobody
	// notices it, and long enough for the runs that one change of a shared object sets off.
	gatherTime = 20 * time.Millisecond

	// batchDeadline ends a batch before those who wait for it give up, so that they are told why it failed and not
	// merely that it is late.
	batchDeadline = readBudget - gatherTime - 280*time.Millisecond

	// maxAttempts and maxBackoff bound the SDK's retries: two pauses of at most half a second leave time for three calls
	// within batchDeadline. The SDK's own pause after throttling is up to a second, then two.
	maxAttempts = 3
	maxBackoff  = 500 * time.Millisecond

	// dialTimeout and headerTimeout let a dead connection fail while there is time to try again. DescribeInstances
	// takes about a second for packedInstances.
	dialTimeout   = time.Second
	headerTimeout = 3 * time.Second

	// requestTimeout ends each request, its body included. Reads end with their batch anyway; signing in does not: the
	// SDK's cache of credentials lets one caller fetch them for all, without any deadline, so a response that stalls
	// in its body would leave the identity waiting for it for good.
	requestTimeout = batchDeadline

	// refusalTime is how long one refusal, of throttling, permission or credentials, answers for all pools of a view. It
	// is a third of the default refresh.changingSeconds, so a pool hardly notices, and a thousand refused pools make a call
	// in five seconds and not seventy a second, which would hold the account's bucket empty: EC2 refills it with
	// 20 a second, for everybody in the account.
	refusalTime = 5 * time.Second

	// maxAge is the oldest answer that is given, whatever the caller accepts: the default of refresh.stableSeconds. A
	// longer refresh asks seldom enough not to need a cache.
	maxAge = time.Minute

	// rememberTime is how long a pool that nobody asked for is still read along with others: two stable refreshes.
	rememberTime = 2 * time.Minute

	// earlierAge is how old instances may be that stand in for a reading that fails. They make up for a status from before
	// them, and Crossplane's cache is behind by seconds. Older ones would bring back members that are long gone, where
	// another replica of the function can read.
	earlierAge = 2 * time.Minute

	// idleTime is how long unused clients stay. A rotated credential leaves its clients behind; they go, with the
	// credentials they hold, soon after.
	idleTime = 10 * time.Minute

	// sweepTime is how often what is idle or forgotten is looked for.
	sweepTime = 30 * time.Second

	// maxViews bounds the identities and regions that are held at a time; the longest unused goes first. A view is a
	// few hundred kB of SDK clients.
	maxViews = 128

	// maxHeld bounds what all caches hold, in answers and members. A member takes about 400 bytes, so this is 80 MB
	// at worst, for 20,000 pools of 10.
	maxHeld = 220_000

	// maxCalls is how many calls a view makes at a time. EC2 lets an account make 20 reads a second in a region, with
	// bursts of 100, and others in that account have work to do as well.
	maxCalls = 8
)

// Bounds that AWS sets.
const (
	// groupsPerCall is how many names DescribeAutoScalingGroups takes, with MaxRecords as high.
	// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeAutoScalingGroups.html
	groupsPerCall = 100

	// valuesPerFilter is how many values an EC2 filter takes.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
	valuesPerFilter = 200

	// itemsPerPage is the largest page of DescribeImages.
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html
	itemsPerPage = 1000

	// maxNameLength is the longest name of an Auto Scaling group, in characters.
	// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
	maxNameLength = 255
)

// Bounds on what is believed.
const (
	// packedInstances is how many instances are read together, and how many a page has. EC2 takes 1 to 3 ms for each of
	// them, so a page of a thousand may not come within headerTimeout, and would fail a hundred pools each time; this
	// many come in about a second. Pages of one group are read one after the other: up to some 1,500 instances even when
	// EC2 is slow, and 4,000 when it is not, come within batchDeadline.
	packedInstances = 400

	// minPacked and packTime: what was late is halved down to minPacked, and doubled again after packTime. Less would
	// cost more calls than EC2 lets an account make when its slowness has another reason.
	minPacked = 100
	packTime  = 5 * time.Minute

	// maxPages ends a pagination that does not end. The largest answer that is expected is one group of several
	// thousand members, or every image of a large publisher.
	maxPages = 50

	// maxResponseBytes ends a response that does not end. A full page of instances is some 8 MB.
	maxResponseBytes = 32 << 20

	// maxSplits bounds the calls that are spent to single out a bad name. Two bad ones in a hundred take 26.
	maxSplits = 32
)
