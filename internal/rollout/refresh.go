package rollout

// Statuses of an instance refresh that is over.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_InstanceRefresh.html
const (
	statusSuccessful         = "Successful"
	statusFailed             = "Failed"
	statusCancelled          = "Cancelled"
	statusRollbackSuccessful = "RollbackSuccessful"
	statusRollbackFailed     = "RollbackFailed"
)

// IsActive reports whether an instance refresh of a status is still at work. An unknown status counts as active: AWS adds
// some, and to wait is safe.
func IsActive(status string) bool {
	switch status {
	case statusSuccessful, statusFailed, statusCancelled, statusRollbackSuccessful, statusRollbackFailed:
		return false
	}
	return true
}
